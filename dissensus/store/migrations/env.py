"""Alembic's entry point: runs the pending migrations in the transaction of the given connection."""

from __future__ import annotations

from alembic import context

from dissensus.store.schema import METADATA, VERSIONS

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSIONS,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
