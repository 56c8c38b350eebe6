"""The laconic test: how little of an image is enough for each classifier of a study, and for people."""
