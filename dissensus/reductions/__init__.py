"""How little of an image is enough: reductions, the entropy that is left, and searches for the least of it."""
