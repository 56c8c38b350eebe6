"""Pictures as browsers get them: the same pixels, no words, and nothing but pictures."""

from __future__ import annotations

import base64
import io
import re
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps
from worded_pictures import (
    SECRET,
    colours,
    exif,
    huge_png,
    profile,
    saved,
    worded_jpeg,
    worded_png,
    worded_tiff,
    xmp,
)

from dissensus.errors import StudyError
from dissensus.web.pictures import Pictures, clean_picture

HTML = b"<!doctype html><script>alert(1)</script>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n(/etc/passwd) (r) file\n"
DECODED = """async (data) => {
  const image = new Image();
  image.src = data;
  await image.decode();
  const pen = new OffscreenCanvas(image.naturalWidth, image.naturalHeight).getContext("2d");
  pen.drawImage(image, 0, 0);
  const { width, height } = pen.canvas;
  return [width, height, [...pen.getImageData(0, 0, width, height).data]];
}"""


@pytest.fixture
def cleaned(tmp_path: Path) -> Callable[[bytes], tuple[bytes, str]]:
    """Clean a picture that lies in a file."""

    def clean(data: bytes) -> tuple[bytes, str]:
        (tmp_path / "picture").write_bytes(data)
        return clean_picture(tmp_path / "picture")

    return clean


def is_wordless(data: bytes) -> bool:
    """True where the secret is nowhere, not even in what is compressed or in two bytes a letter."""
    unpacked = b"".join(_unpacked(data[found.end() :]) for found in re.finditer(rb"(?=\x78[\x01\x5e\x9c\xda])", data))
    spellings = [SECRET.encode(coding) for coding in ("ascii", "utf-16-le", "utf-16-be")]
    return not any(spelling in data + unpacked for spelling in spellings) and b"zzmodela" not in data


def _unpacked(data: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, 1 << 20)
    except zlib.error:
        return b""


def pixels(data: bytes) -> tuple[str, np.ndarray]:
    image = Image.open(io.BytesIO(data))
    return image.mode, np.asarray(image)


JPEGS = {
    "plain": lambda: worded_jpeg(colours()),
    "progressive": lambda: worded_jpeg(colours(), progressive=True),
    "grey": lambda: worded_jpeg(colours("L")),
    "CMYK": lambda: worded_jpeg(colours("CMYK")),
    "restarts": lambda: worded_jpeg(colours(), restart_marker_blocks=1),
    "4:4:4": lambda: worded_jpeg(colours(), subsampling=0, optimize=True),
    "large": lambda: worded_jpeg(colours(size=(900, 700)), progressive=True),
}
PNGS = {
    "RGB": lambda: worded_png(colours()),
    "RGBA": lambda: worded_png(colours("RGBA")),
    "grey": lambda: worded_png(colours("L")),
    "16 bits": lambda: worded_png(Image.fromarray(np.arange(65_536, dtype=np.uint16).reshape(256, 256))),
    "one bit": lambda: worded_png(colours("L").convert("1")),
    "palette": lambda: worded_png(colours().quantize(50)),
    "transparent palette": lambda: worded_png(colours().quantize(50), transparency=3),
    "animated": lambda: worded_png(colours(), save_all=True, append_images=[colours().rotate(180)]),
}
OTHERS = {
    "BMP": lambda: saved(colours(), "BMP"),
    "GIF": lambda: saved(colours().quantize(50), "GIF", comment=SECRET.encode()),
    "animated GIF": lambda: saved(
        colours().quantize(50), "GIF", comment=SECRET.encode(), save_all=True, append_images=[colours("L").convert("P")]
    ),
    "WebP": lambda: saved(colours(), "WEBP", lossless=True, exif=exif(), xmp=xmp(), icc_profile=profile()),
    "WebP with alpha": lambda: saved(colours("RGBA"), "WEBP", lossless=True, exact=True, exif=exif()),
    "TIFF": lambda: worded_tiff(colours()),
    "PPM": lambda: saved(colours(), "PPM").replace(b"P6", b"P6 #" + SECRET.encode(), 1),
    "PGM": lambda: saved(colours("L"), "PPM"),
    "JPEG 2000": lambda: saved(colours(), "JPEG2000", comment=SECRET),
}


@pytest.mark.parametrize("name", JPEGS)
def test_jpeg_keeps_its_pixels_and_loses_its_words(name: str, cleaned: Callable) -> None:
    data = JPEGS[name]()
    assert not is_wordless(data)
    clean, kind = cleaned(data)
    assert kind == "image/jpeg"
    assert is_wordless(clean)
    assert pixels(clean)[0] == pixels(data)[0]
    np.testing.assert_array_equal(pixels(clean)[1], pixels(data)[1])


@pytest.mark.parametrize("name", PNGS)
def test_png_keeps_its_pixels_and_loses_its_words(name: str, cleaned: Callable) -> None:
    data = PNGS[name]()
    assert not is_wordless(data)
    clean, kind = cleaned(data)
    assert kind == "image/png"
    assert is_wordless(clean)
    before, after = Image.open(io.BytesIO(data)), Image.open(io.BytesIO(clean))
    assert (after.mode, after.info.get("transparency")) == (before.mode, before.info.get("transparency"))
    assert getattr(after, "n_frames", 1) == 1
    np.testing.assert_array_equal(np.asarray(after), np.asarray(before))
    np.testing.assert_array_equal(np.asarray(after.convert("RGBA")), np.asarray(before.convert("RGBA")))


@pytest.mark.parametrize("name", OTHERS)
def test_other_formats_become_png_with_the_same_pixels(name: str, cleaned: Callable) -> None:
    data = OTHERS[name]()
    clean, kind = cleaned(data)
    assert kind == "image/png"
    assert is_wordless(clean)
    np.testing.assert_array_equal(
        np.asarray(Image.open(io.BytesIO(clean)).convert("RGBA")),
        np.asarray(Image.open(io.BytesIO(data)).convert("RGBA")),
    )


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.float32])
def test_deep_greys_are_shown_from_their_darkest_to_their_brightest(dtype: type, cleaned: Callable) -> None:
    ramp = np.linspace(1000, 3000, 256).round().astype(dtype).reshape(16, 16)
    clean, kind = cleaned(worded_tiff(Image.fromarray(ramp)))
    mode, shown = pixels(clean)
    assert (mode, kind) == ("L", "image/png")
    assert is_wordless(clean)
    np.testing.assert_allclose(shown.astype(float), np.arange(256).reshape(16, 16), atol=1)


def test_pixels_without_a_value_are_black(cleaned: Callable) -> None:
    values = np.array([[0.0, np.nan], [1.0, np.inf]], np.float32)
    assert pixels(cleaned(worded_tiff(Image.fromarray(values)))[0])[1].tolist() == [[0, 0], [255, 255]]
    assert not pixels(cleaned(worded_tiff(Image.fromarray(values * np.nan)))[0])[1].any()


@pytest.mark.parametrize("cut", [0.05, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("kind", ["JPEG", "progressive JPEG", "PNG", "TIFF", "GIF", "WEBP", "BMP"])
def test_a_file_that_ends_too_early_is_refused(kind: str, cut: float, cleaned: Callable) -> None:
    noise = Image.fromarray(np.random.default_rng(0).integers(256, size=(200, 200), dtype=np.uint8))
    whole = saved(noise, kind.rsplit(maxsplit=1)[-1], progressive="progressive" in kind)
    cleaned(whole)
    with pytest.raises(StudyError, match="cannot be read"):
        cleaned(whole[: int(cut * len(whole))])


@cache
def samples() -> list[bytes]:
    """One file of each kind; made once, since profiles say when they were made."""
    return [make() for kinds in (JPEGS, PNGS, OTHERS) for name, make in kinds.items() if name != "large"]


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=150)
@given(st.data())
def test_damage_is_refused_or_still_a_picture(tmp_path: Path, data: st.DataObject) -> None:
    damaged = bytearray(data.draw(st.sampled_from(samples())))
    for place in data.draw(st.lists(st.integers(0, len(damaged) - 1), min_size=1, max_size=6)):
        damaged[place] ^= data.draw(st.integers(1, 255))
    (tmp_path / "damaged").write_bytes(damaged)
    try:
        clean, kind = clean_picture(tmp_path / "damaged")
    except StudyError:
        return
    assert Image.open(io.BytesIO(clean)).get_format_mimetype() == kind


@pytest.mark.parametrize(
    "data", [HTML, SVG, EPS, b"", b"\xff\xd8\xff" + HTML, b"\x89PNG\r\n\x1a\n" + HTML, b"GIF89a" + HTML]
)
def test_what_is_no_picture_is_refused_whatever_its_name(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(data)
    with pytest.raises(StudyError, match="cannot be read"):
        clean_picture(tmp_path / "photo.jpg")


def test_no_program_is_started_for_a_picture(cleaned: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: object, **__: object) -> None:
        pytest.fail("a program was started")

    monkeypatch.setattr("subprocess.Popen", started)
    with pytest.raises(StudyError):
        cleaned(EPS + b"%%EndComments\nshowpage\n")


def test_a_bomb_is_refused(cleaned: Callable) -> None:
    with pytest.raises(StudyError, match="too large"):
        cleaned(huge_png())


def test_files_that_are_gone_or_folders_are_refused_and_links_are_followed(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="is gone"):
        clean_picture(tmp_path / "missing.png")
    with pytest.raises(StudyError, match="cannot be read"):
        clean_picture(tmp_path)
    (tmp_path / "there.png").write_bytes(saved(colours(), "PNG"))
    (tmp_path / "link.png").symlink_to(tmp_path / "there.png")
    assert clean_picture(tmp_path / "link.png") == clean_picture(tmp_path / "there.png")


def test_memory_holds_what_was_looked_at_last_and_no_more_than_its_room(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.bmp" for number in range(4)]
    for number, file in enumerate(files):
        file.write_bytes(
            saved(Image.fromarray(np.random.default_rng(number).integers(256, size=(40, 40), dtype=np.uint8)), "BMP")
        )
    size = len(clean_picture(files[0])[0])
    pictures = Pictures(room=int(2.5 * size))
    for file in (files[0], files[1], files[0], files[2], files[3]):
        assert pictures.read(file) == clean_picture(file)
        assert pictures.taken == sum(len(data) for data, _ in pictures.kept.values()) <= pictures.room
    assert [uri for uri, _ in pictures.kept] == list(map(str, files[2:]))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_browser_shows_it_upright(orientation: int, cleaned: Callable, browser: Any) -> None:
    files = {
        "JPEG": worded_jpeg(colours(), orientation, subsampling=0),
        "PNG": saved(colours(), "PNG", exif=exif(orientation)),
        "WebP": saved(colours(), "WEBP", lossless=True, exif=exif(orientation)),
    }
    for name, data in files.items():
        upright = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))), int)
        np.testing.assert_allclose(shown(browser, *cleaned(data)), upright, atol=12, err_msg=name)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_profile_still_changes_what_is_seen(kind: str, cleaned: Callable, browser: Any) -> None:
    red = Image.new("RGB", (8, 8), (200, 30, 30))
    data = saved(
        red, kind, icc_profile=profile(swaps_red_and_green=True), **{"lossless": True} if kind == "WEBP" else {}
    )
    clean, media_type = cleaned(data)
    assert is_wordless(clean)
    before, after = shown(browser, data, f"image/{kind.lower()}"), shown(browser, clean, media_type)
    assert before[4, 4, 1] > before[4, 4, 0] + 100, "the profile of this test does nothing"
    np.testing.assert_allclose(after, before, atol=2)


def shown(browser: Any, data: bytes, kind: str) -> np.ndarray:
    """The picture's pixels in a browser."""
    page = browser.new_page()
    width, height, values = page.evaluate(DECODED, f"data:{kind};base64,{base64.b64encode(data).decode()}")
    page.close()
    return np.reshape(values, (height, width, 4))[..., :3].astype(int)
