"""Which candidates make a test set like the original one: selection frequencies and sampling."""
