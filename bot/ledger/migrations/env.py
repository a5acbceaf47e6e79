"""Alembic's entry: the connection is handed in by Database.migrate."""

from __future__ import annotations

from alembic import context

from bot.ledger.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata, render_as_batch=True)
context.run_migrations()
