"""Classifiers over many data sets: ranks, shares of the best accuracy, tests, profiles, and four-fold tuning."""
