"""The report of a competition of scores: who falsifies whom, and on which pairs of items."""
