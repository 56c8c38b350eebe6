"""Kernels of images on NVIDIA GPUs, fused over all layers; needs CuPy (the extra `cuda`)."""
