"""Classifiers compared over many data sets."""
