"""The database of facts: SQLite beside the data, or PostgreSQL; both migrated by Alembic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, Insert, create_engine, event, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.orm import Session
from sqlalchemy.sql.compiler import SQLCompiler

from bot.errors import BotError

MIGRATIONS = Path(__file__).parent / "migrations"
MIGRATION_LOCK = 0x6475616C67617465  # "dualgate", PostgreSQL's advisory lock


class DatabaseUnavailable(BotError):
    """The database does not answer or can't be migrated; the message has no password."""


class Database:
    """A pool of connections; safe from several threads."""

    def __init__(self, url: str, patience_s: float = 30.0) -> None:
        """`patience_s`: how long SQLite is waited for while another process writes."""
        if url.startswith("sqlite"):
            self.engine = create_engine(url, connect_args={"timeout": patience_s})
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_immediate)
        else:
            self.engine = create_engine(url, pool_pre_ping=True, pool_size=10, max_overflow=10, pool_timeout=10, connect_args={"connect_timeout": 10})

    @contextmanager
    def session(self) -> Iterator[Session]:
        """One transaction: committed at the end, rolled back on an error."""
        with Session(self.engine, expire_on_commit=False) as session, session.begin():
            yield session

    def compiled(self, statement: Insert) -> SQLCompiler:
        """An insertion of one row in the words of this database's driver, for `insert`."""
        made = statement.compile(dialect=self.engine.dialect)
        assert isinstance(made, SQLCompiler)
        return made

    def insert(self, statement: SQLCompiler, row: Mapping[str, object]) -> bool:
        """Commit one row; False where its key is there already. Straight to the driver: a third of the time, where somebody waits. Raises SQLAlchemyError."""
        driver: Any = self.engine.dialect.loaded_dbapi
        values: Any = [row[name] for name in statement.positiontup or ()] if statement.positional else row
        try:
            with closing(self.engine.raw_connection()) as connection:
                connection.cursor().execute(statement.string, values)
                connection.commit()
        except driver.IntegrityError:
            return False
        except driver.Error as error:
            raise DBAPIError.instance(statement.string, None, error, driver.Error) from error
        return True

    def answers(self) -> bool:
        """Whether it can be asked."""
        try:
            with self.engine.connect() as connection:
                connection.execute(text("SELECT 1"))
        except SQLAlchemyError:
            return False
        return True

    def migrate(self) -> None:
        """Bring the tables to this version; several processes may do so at once. Raises DatabaseUnavailable."""
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        try:
            with self.engine.connect() as connection, connection.begin():
                _lock_migrations(connection, self.engine)
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", error)).splitlines()[0][:200]
            raise DatabaseUnavailable(f"the database can't be used: {type(error).__name__}: {reason}") from error

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions are begun below, not by the driver
    cursor = connection.cursor()
    for line in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {line}")
    cursor.close()


def _begin_immediate(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")  # a transaction that turns from reading to writing can't be refused midway


def _lock_migrations(connection: Any, engine: Engine) -> None:
    if engine.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
