"""Complete studies that run offline: on handwritten digits, distorted photos, and digits on photos."""

from dissensus.demo.labels import PREPROCESS, DemoResult, classifiers, run_demo
from dissensus.demo.masks import MasksDemoResult, run_masks_demo
from dissensus.demo.scores import SlidersReady, prepare_sliders

__all__ = [
    "PREPROCESS",
    "DemoResult",
    "MasksDemoResult",
    "SlidersReady",
    "classifiers",
    "prepare_sliders",
    "run_demo",
    "run_masks_demo",
]
