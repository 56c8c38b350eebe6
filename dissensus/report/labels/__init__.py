"""The page about classifiers: who is right where two of them disagree."""
