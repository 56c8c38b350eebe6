"""Recipes: each is a set of valid settings, known names lead to them, and commands are what `predict` takes."""

from __future__ import annotations

import shlex

import pytest

from dissensus.backends import Preprocess
from dissensus.backends.recipes import (
    KNOWN,
    RECIPES,
    as_options,
    is_recipe,
    recipes_to_try,
    usual_recipes,
    with_recipe,
)
from dissensus.steps.models import parsed_settings


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_is_valid_and_recognises_itself(name):
    Preprocess.read(RECIPES[name].settings)
    assert [other for other in RECIPES if is_recipe(RECIPES[name].settings, other)] == [name]
    assert name not in recipes_to_try("unknown.onnx", RECIPES[name].settings)


def test_known_names_lead_to_recipes():
    assert all(name in RECIPES for _, names in KNOWN for name in names)
    assert usual_recipes("/models/bvlc_googlenet.onnx")[0] == "caffe"
    assert usual_recipes("mobilenet_v2_1.0_224.tflite")[0] == "tensorflow"
    assert usual_recipes("resnet50-v2-7.onnx") == ("imagenet", "caffe")
    assert usual_recipes("deeplabv3_mnv2.tflite")[0] == "tensorflow"
    assert usual_recipes("vit_base_patch16_224@weights.pt")[0] == "tensorflow"
    assert usual_recipes("mine.onnx") == ()


def test_the_folder_of_a_network_says_nothing():
    assert usual_recipes("/home/ann/resnet-experiments/mine.onnx") == ()


@pytest.mark.parametrize("name", RECIPES)
def test_options_are_what_predict_reads(name):
    settings = with_recipe({"crop": 1, "mean": 3}, {}, name)
    words = shlex.split(as_options(settings))
    assert parsed_settings(words[1::2]) == settings
    assert settings["crop"] == 1


def test_settings_that_all_models_share_are_overruled():
    shared = {"channels": "bgr", "scale": 1}
    settings = shared | with_recipe({}, shared, "imagenet")
    assert Preprocess.read(settings).channels == "rgb"
    assert Preprocess.read(settings).scale == pytest.approx(1 / 255)
