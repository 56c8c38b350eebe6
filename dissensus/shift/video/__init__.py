"""Robustness along video: anchors, their neighbours, what people say about them, and how models fare on them."""
