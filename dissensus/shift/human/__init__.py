"""People as a baseline for models: they label a sample of the images, and all labels are reviewed."""
