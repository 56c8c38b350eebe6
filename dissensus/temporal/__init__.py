"""Robustness along video: accuracy on the worst frame near an anchor, and what explains its drop."""
