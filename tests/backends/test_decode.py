import numpy as np
import pytest
from PIL import Image

from dissensus.backends.decode import Unreadable, as_rgb, read_image


@pytest.fixture
def photo():
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8))


def test_image_is_loaded_and_rgb(tmp_path, photo):
    photo.save(tmp_path / "a.png")
    image = read_image(tmp_path / "a.png")
    (tmp_path / "a.png").unlink()
    assert image.mode == "RGB"
    assert (np.asarray(image) == np.asarray(photo)).all()


def damaged(path, photo, kind):
    if kind == "missing":
        return
    if kind == "folder":
        path.mkdir()
        return
    photo.save(path, format="PNG" if kind == "broken png" else "JPEG")
    whole = path.read_bytes()
    contents = {
        "empty": b"",
        "text": b"<html>404</html>",
        "truncated": whole[: len(whole) // 2],
        "broken png": whole[:60] + bytes(100) + whole[160:],
    }
    path.write_bytes(contents[kind])


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("missing", "missing file"),
        ("folder", "a folder, not a file"),
        ("empty", "empty file"),
        ("text", "not an image in a known format"),
        ("truncated", "damaged image (OSError: image file is truncated"),
        ("broken png", "damaged image ("),
    ],
)
def test_unreadable_files_give_a_reason(tmp_path, photo, kind, reason):
    path = tmp_path / "a.jpg"
    damaged(path, photo, kind)
    result = read_image(path)
    assert isinstance(result, Unreadable)
    assert result.reason.startswith(reason)
    assert str(tmp_path) not in result.reason
    assert result == read_image(path)


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("limit", [1500, 500])
def test_decompression_bombs_are_unreadable(tmp_path, photo, monkeypatch, limit):
    photo.save(tmp_path / "a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    assert "Pillow's limit" in read_image(tmp_path / "a.png").reason


def test_exif_orientation_is_honoured(tmp_path, photo):
    exif = Image.Exif()
    exif[0x0112] = 6  # stored lying on its left side
    photo.save(tmp_path / "a.png", exif=exif)
    image = read_image(tmp_path / "a.png")
    assert image.size == (40, 60)
    assert (np.asarray(image) == np.asarray(photo.transpose(Image.Transpose.ROTATE_270))).all()
    assert as_rgb(image).size == (40, 60)


def test_sixteen_bits_keep_the_upper_eight(tmp_path):
    array = np.arange(0, 65_536, 257, dtype=np.uint16).reshape(16, 16)
    Image.fromarray(array).save(tmp_path / "a.png")
    image = read_image(tmp_path / "a.png")
    assert (np.asarray(image)[:, :, 0] == np.arange(256).reshape(16, 16)).all()


def test_float_palette_alpha_bilevel_and_cmyk(photo):
    ramp = np.linspace(0, 1, 256, dtype=np.float32).reshape(16, 16)
    assert np.asarray(as_rgb(Image.fromarray(ramp)))[15, 15].tolist() == [255] * 3
    assert np.asarray(as_rgb(Image.fromarray(ramp * 200)))[15, 15].tolist() == [200] * 3
    assert np.asarray(as_rgb(Image.new("RGBA", (2, 2), (0, 0, 0, 0))))[0, 0].tolist() == [255] * 3
    assert np.asarray(as_rgb(Image.new("LA", (2, 2), (7, 255))))[0, 0].tolist() == [7] * 3
    assert np.asarray(as_rgb(Image.new("1", (2, 2), 1)))[0, 0].tolist() == [255] * 3
    for mode in ("P", "CMYK", "YCbCr", "L"):
        assert as_rgb(photo.convert(mode)).mode == "RGB"
