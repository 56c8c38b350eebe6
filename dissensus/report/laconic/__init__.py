"""The page about a laconic test."""
