"""The annotation service: HTTP, pages, and what it remembers while it runs. Files and databases are given to it."""
