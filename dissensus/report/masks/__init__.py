"""The report on segmentation models."""
