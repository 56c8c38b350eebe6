"""The annotation service: HTTP, pages, and its state while it runs. Files and databases are passed in."""
