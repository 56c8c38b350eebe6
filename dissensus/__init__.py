"""Dissensus: which of these models is better, and where does each fail?"""

__version__ = "0.1.0"
