"""Two test sets: building the second one with people, and comparing models on both."""
