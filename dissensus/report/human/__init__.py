"""The page about people and models on the same images."""
