"""The page about models on two test sets."""
