"""Complete studies that run offline: on handwritten digits (five times), distorted photos, and digits on photos."""

from dissensus.demo.human import HumanDemoResult, run_human_demo
from dissensus.demo.labels import PREPROCESS, DemoResult, claim, classifiers, run_demo
from dissensus.demo.laconic import LaconicDemoResult, run_laconic_demo
from dissensus.demo.masks import MasksDemoResult, run_masks_demo
from dissensus.demo.scores import SlidersReady, prepare_sliders
from dissensus.demo.shift import ShiftDemoResult, run_shift_demo
from dissensus.demo.video import VideoDemoResult, run_video_demo

__all__ = [
    "PREPROCESS",
    "DemoResult",
    "HumanDemoResult",
    "LaconicDemoResult",
    "MasksDemoResult",
    "ShiftDemoResult",
    "SlidersReady",
    "VideoDemoResult",
    "claim",
    "classifiers",
    "prepare_sliders",
    "run_demo",
    "run_human_demo",
    "run_laconic_demo",
    "run_masks_demo",
    "run_shift_demo",
    "run_video_demo",
]
