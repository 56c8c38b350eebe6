"""The whole job with nothing but installed packages: on handwritten digits, and on distorted photos."""

from dissensus.demo.labels import PREPROCESS, DemoResult, classifiers, run_demo
from dissensus.demo.scores import SlidersReady, prepare_sliders

__all__ = ["PREPROCESS", "DemoResult", "SlidersReady", "classifiers", "prepare_sliders", "run_demo"]
