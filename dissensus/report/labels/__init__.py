"""The report on classifiers: who is right where two of them disagree."""
