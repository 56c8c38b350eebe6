"""A new test set that is built as the original one was, with people in the loop."""
