"""One page per paper: the rooms, called in order."""
