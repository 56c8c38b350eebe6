"""Kernels of images, tables and strings, and the machines that learn with them."""
