"""The steps of a competition of scores."""
