"""The log of assistants' requests and answers, one JSON object per line: for the instructor, and for `history`.

Every line has `at` (UTC), `session` (one run of the server), `student` (the account that runs it), `client` (the name
that the assistant's program gives), `tool` and, if known, `exercise`, `level`, `status`, `score`, `max_score`,
`misconception`, `misconceptions`, `seconds`, `code` (its SHA-256 and number of lines) and `refused` (the reason of a
refusal). The code itself is not stored.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.api import SEPARATOR, misconceptions_of
from autograder.exercises.variants import student_name
from autograder.feedback.text import one_line
from tfkit_course.small_file import NotSmallFile, read_small

if TYPE_CHECKING:
    from rich.table import Table

LONGEST = 300  # characters of a client's texts that are logged
MAX_BYTES = 64 << 20


class LogError(RuntimeError):
    """The log cannot be written or read; the message says why."""


class AssistantLog:
    """Appends to the file; a request that cannot be logged is not answered.

    Raises LogError if the log cannot be opened.
    """

    def __init__(self, file: Path) -> None:
        self.file, self.session, self.student = file, secrets.token_hex(4), _account()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            os.close(self._open())
        except OSError as error:
            raise LogError(f"{file}: {error.strerror}: make it writable") from error

    def write(self, tool: str, client: str, answer: Mapping[str, Any]) -> None:
        """Append one line."""
        head = {"at": _now(), "session": self.session, "student": self.student, "client": client[:LONGEST]}
        kept = {key: value[:LONGEST] if isinstance(value, str) else value for key, value in answer.items()}
        line = json.dumps({**head, "tool": tool, **kept}) + "\n"
        try:
            file = self._open()
            try:
                os.write(file, line.encode())  # a single write, so that lines of two servers do not mix
            finally:
                os.close(file)
        except OSError as error:
            raise LogError(f"the log {self.file} cannot be written ({error.strerror}), so no help is given") from error

    def of_student(self) -> list[dict[str, Any]]:
        """The lines of this account."""
        return [entry for entry in read(self.file) if entry.get("student") == self.student]

    def _open(self) -> int:
        return os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def read(file: Path) -> list[dict[str, Any]]:
    """The log's lines, oldest first; damaged ones are skipped. Raises LogError if it is too large or cannot be read."""
    try:
        return list(_entries(read_small(file, MAX_BYTES).decode("utf-8", "replace")))
    except FileNotFoundError:
        return []
    except NotSmallFile as error:
        raise LogError(f"{file}: {error}: move it away to start a new one") from error
    except OSError as error:
        raise LogError(f"{file} cannot be read: {error.strerror}") from error


def _entries(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and isinstance(entry.get("tool"), str):
            yield entry


def fingerprint(code: str) -> dict[str, Any]:
    """The hash and length of code, which show whether the same code was sent twice."""
    digest = hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()
    return {"sha256": digest, "lines": len(code.splitlines())}


def table(entries: Iterable[Mapping[str, Any]]) -> Table:
    """A table for the terminal, with a row for each student and exercise: checks, hints by step, refusals, the last
    verdict. A client and who can write the log choose the texts, so that none controls the terminal."""
    from rich.markup import escape
    from rich.table import Table

    shown = Table(title="Requests of assistants", title_justify="left", box=None, pad_edge=False)
    for name in ("student", "exercise", "client", "last asked, UTC"):
        shown.add_column(name, overflow="fold", no_wrap=name.startswith("last"))
    for name in ("checks", "hints 1/2/3", "refused"):
        shown.add_column(name, justify="right")
    shown.add_column("last verdict", overflow="fold")
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for entry in entries:
        groups.setdefault((str(entry.get("student")), str(entry.get("exercise") or "")), []).append(entry)
    for (student, exercise), own in groups.items():
        checks = [one for one in own if one["tool"] == "check" and "status" in one]
        given = [one.get("level") for one in own if one["tool"] == "hint" and "refused" not in one]
        last = checks[-1] if checks else {}
        outcome = " ".join(filter(None, (str(last.get("status") or ""), SEPARATOR.join(misconceptions_of(last)))))
        clients = ", ".join(sorted({str(one.get("client")) for one in own}))
        counts = [str(len(checks)), "/".join(str(given.count(step)) for step in (1, 2, 3))]
        refused = str(sum("refused" in one for one in own))
        cells = [student, exercise or "(none named)", clients, str(own[-1].get("at"))[:16].replace("T", " ")]
        shown.add_row(*(escape(one_line(cell[:LONGEST])) for cell in [*cells, *counts, refused, outcome]))
    return shown


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _account() -> str:
    try:
        return student_name()
    except (OSError, KeyError):  # an account without a name
        return str(os.getuid()) if hasattr(os, "getuid") else "unknown"
