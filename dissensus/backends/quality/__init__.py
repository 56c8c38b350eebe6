"""Image quality models: one score per image, with or without a reference."""

from __future__ import annotations

from dissensus.backends.quality.brisque import brisque
from dissensus.backends.quality.fsim import fsim
from dissensus.backends.quality.model import Better, QualityModel, UnfitImageError
from dissensus.backends.quality.niqe import PATCH, niqe
from dissensus.backends.quality.piqe import piqe
from dissensus.backends.quality.pixels import exact_luma
from dissensus.backends.quality.psnr import psnr
from dissensus.backends.quality.ssim import SHORTEST as SSIM_SHORTEST
from dissensus.backends.quality.ssim import ms_ssim, ssim
from dissensus.backends.quality.vif import SHORTEST as VIF_SHORTEST
from dissensus.backends.quality.vif import vif
from dissensus.errors import BackendError

__all__ = ["QUALITY", "Better", "QualityModel", "UnfitImageError", "open_quality"]

_MODELS = (
    QualityModel("psnr", "higher", True, "peak signal-to-noise ratio of luma in dB, at most 100", psnr),
    QualityModel("ssim", "higher", True, "structural similarity (2004), no downsampling", ssim),
    QualityModel("ms-ssim", "higher", True, "structural similarity at five scales (2003)", ms_ssim, SSIM_SHORTEST),
    QualityModel("fsim", "higher", True, "feature similarity of luma (2011)", fsim, pixels=exact_luma),
    QualityModel("vif", "higher", True, "visual information fidelity, pixel domain (2006)", vif, VIF_SHORTEST),
    QualityModel("brisque", "lower", False, "natural scene statistics, trained on opinions (2012)", brisque),
    QualityModel("niqe", "lower", False, "distance from the statistics of good photographs (2013)", niqe, PATCH),
    QualityModel("piqe", "lower", False, "share of blocky and noisy blocks, 0 to 100 (2015)", piqe),
)

QUALITY: dict[str, QualityModel] = {model.name: model for model in _MODELS}


def open_quality(target: str) -> QualityModel:
    """The quality model of that name.

    Raises:
        BackendError: no model has that name.
    """
    if target not in QUALITY:
        raise BackendError(f"unknown quality model '{target}': use one of {', '.join(QUALITY)}")
    return QUALITY[target]
