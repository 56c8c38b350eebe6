"""The page about robustness along video."""
