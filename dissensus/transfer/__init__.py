"""Accuracies on two test sets: gaps, fits, and what can be concluded from them."""
