"""The steps of a competition of classes."""
