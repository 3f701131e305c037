"""One-line messages for errors of the machine: a full disk, a damaged or missing database, a read-only folder."""

from __future__ import annotations

import errno
import sqlite3
import sys

ADVICE = {  # a part of what SQLite says → what to do
    "disk is full": "free some space on that disk",
    "not a database": "it is damaged or not a database: restore a copy of it, or move it away",
    "malformed": "it is damaged: restore a copy of it, or move it away",
    "readonly": "give yourself write permission for it and its folder",
    "read-only": "give yourself write permission for it and its folder",
    "locked": "close the program that has locked it, such as a formgrader",
    "unable to open": "give yourself write permission for it and its folder",
    "no such table": "it is damaged or belongs to another program: restore a copy of it, or move it away",
}
SERVER_ADVICE = "start the database server, or correct c.CourseDirectory.db_url in nbgrader_config.py"


def explain(error: BaseException, where: str) -> str | None:
    """The line about `error`: of `where`, if neither it nor its note names a file; None if it is none of these."""
    found = _database(error)
    where = next(iter(getattr(error, "__notes__", ())), where)
    if found is not None:
        message = " ".join(str(found).split()) or type(found).__name__
        for words, advice in ADVICE.items():
            if words in message:
                return f"{where}: {message}: {advice}"
        return f"{where}: the database says: {message[:300]}" + (
            "" if isinstance(found, sqlite3.Error) else f": {SERVER_ADVICE}"
        )
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{error.filename or where}: {error.strerror}: free some space there"
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return None


def _database(error: BaseException) -> BaseException | None:
    """The database's own error, whichever way it came: from sqlite3, or through SQLAlchemy or nbgrader, if in use."""
    if isinstance(error, sqlite3.Error):
        return error
    gradebook = sys.modules.get("nbgrader.api")
    if gradebook is not None and isinstance(error, gradebook.InvalidEntry) and error.__context__ is not None:
        error = error.__context__  # nbgrader raises it in place of what SQLAlchemy said
    alchemy = sys.modules.get("sqlalchemy.exc")
    if alchemy is not None and isinstance(error, alchemy.DBAPIError):
        return error.orig or error
    return None
