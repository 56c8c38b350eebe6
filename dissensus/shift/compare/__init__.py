"""Accuracies on two test sets, from a table or from two studies."""
