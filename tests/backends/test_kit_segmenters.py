"""The two DeepLab models of the data kit, on photos whose animals are outlined."""

import numpy as np
import pytest
from PIL import Image

from dissensus.backends import map_preprocess, open_segmenter, read_image
from dissensus.predictions.maps import resized
from dissensus.records import Classes

MODELS = {"mnv2": 0.93, "mnv2_dm05": 0.88}
"""Mean IoU of the kit's table: the animal's own class, on images stretched with Pillow's bicubic filter."""
PETS = Classes(("background", "cat", "dog"))
ANIMAL, BORDER = 1, 3


def opened(kit, model, classes, **settings):
    pytest.importorskip("ai_edge_litert")
    target = str(kit / f"segmentation/deeplabv3_{model}_pascal_quant.tflite")
    return open_segmenter("litert", target, map_preprocess({"labels": "voc"} | settings), classes)


def agreement(first, second):
    """Intersection over union of two masks."""
    return (first & second).sum() / (first | second).sum()


@pytest.mark.parametrize("model", MODELS)
def test_animals_are_outlined_as_the_kit_says(kit, model):
    paths = sorted((kit / "photos/pets/images").iterdir())[1::3]
    trimaps = [np.asarray(Image.open(kit / "photos/pets/trimaps" / f"{path.stem}.png")) for path in paths]
    maps = opened(kit, model, PETS, resample="bicubic")([read_image(path) for path in paths])
    values = []
    for path, trimap, labels in zip(paths, trimaps, maps, strict=True):
        assert labels.shape == (513, 513)
        own_class = 1 if path.name[0].isupper() else 2  # breeds of cats are written with a capital letter
        counts = trimap != BORDER
        values.append(agreement((resized(labels, *trimap.shape) == own_class)[counts], (trimap == ANIMAL)[counts]))
    assert np.mean(values) == pytest.approx(MODELS[model], abs=0.03)


def test_the_sample_mask(kit):
    bird = np.asarray(Image.open(kit / "segmentation/bird_segmentation_mask.bmp")) == 3
    (found,) = opened(kit, "mnv2", Classes(("background", "bird")))(
        [read_image(kit / "segmentation/bird_segmentation.bmp")]
    )
    assert agreement(found == 1, bird) > 0.9


@pytest.mark.parametrize("fit", ["stretch", "letterbox"])
def test_photos_of_any_proportions(kit, fit):
    """A wide cat and a tall parrot: nothing is cut off, and neither is seen in what fills the square."""
    names = ("cat_720p.jpg", "parrot.jpg")
    photos = [read_image(kit / "photos/coral" / name) for name in names]
    maps = opened(kit, "mnv2", Classes(("background", "bird", "cat")), fit=fit)(photos)
    for photo, labels, expected in zip(photos, maps, (2, 1), strict=True):
        if fit == "letterbox":
            assert labels.shape[1] / labels.shape[0] == pytest.approx(photo.width / photo.height, rel=0.01)
        else:
            assert labels.shape == (513, 513)
        assert np.bincount(labels.ravel(), minlength=3)[1:].argmax() + 1 == expected
        assert 0.2 < (labels == expected).mean() < 0.5
