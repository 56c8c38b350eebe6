"""Kernels of images on NVIDIA GPUs, fused over all layers; needs CuPy (`pip install 'dissensus[cuda]'`)."""
