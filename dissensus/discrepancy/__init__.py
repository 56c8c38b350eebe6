"""From two predictions to one number per item: how far apart they are."""
