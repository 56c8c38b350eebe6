"""The report on models that give scores: who falsifies whom, and on which pairs of items."""
