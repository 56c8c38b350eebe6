"""The study folder: TOML, Parquet and SQLite, written atomically and durably."""
