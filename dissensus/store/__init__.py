"""The study folder: TOML, Parquet and SQLite, written so that nothing is lost or half there."""
