"""How the tables of the store came to be: a file per change under versions/, run by Alembic when a study is opened."""
