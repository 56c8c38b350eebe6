"""Migrations of the store: one file per change under versions/, run by Alembic when a study is opened."""
