"""Near-duplicates among images: exact nearest neighbours and structural similarity."""
