"""Writes the configuration and the key of a course: `python -m autograder.nbgrader.config DIR`."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict
from pathlib import Path

from autograder.api import Limits
from autograder.console import error_messages
from tfkit_course.command_line import make_parser

CONFIG, KEY, IGNORE = "nbgrader_config.py", "course.key", ".gitignore"
PASSBACK = "passback.jsonl"  # the scores that a learning management system accepted
# what a release holds for coding assistants, and the log that it asks them to keep, which is handed in
AGENTS, ASSISTANTS_LOG, ASSISTANTS_HOOKS = "AGENTS.md", "assistant-log.md", ".claude/settings.json"
LIMITED = ("wall_s", "call_s", "memory_mb", "processes")  # the fields of Limits that a course may set
PERSONAL = "personal"  # folder with each student's notebooks, where a course draws contracts for each (course.personal)
PRIVATE = (  # what must not be committed: secrets, students' work, marks
    KEY, "lti.pem", PASSBACK, "gradebook.db*", "records.db*", "records.lock", "serve.lock", ".grading/",
    "marking.db*", "submitted/", "autograded/", "feedback/", "exchange/", "/misconceptions.toml",
    "students.csv", "capstone.json", "/viva/", f"/{PERSONAL}/",
)  # fmt: skip


def install(course_dir: str | os.PathLike) -> list[Path]:
    """Make `course_dir` a course that the stock nbgrader commands can grade; returns what was written.

    An existing configuration is kept, since it may have been edited, and so is the key: with another one every
    regrade would draw other cases.
    So a configuration that is older than a setting lacks its line, and the setting has its default: without the line
    `c.BoxedExecute.credit` wrong answers keep points by distance, whatever `[grading]` in course.toml says.
    """
    root = Path(course_dir).resolve()
    (root / "exchange").mkdir(parents=True, exist_ok=True)
    written = []
    if not (root / CONFIG).exists():
        (root / CONFIG).write_text(_shipped(), encoding="utf-8")
        written.append(root / CONFIG)
    if not (root / KEY).exists():
        _write_key(root / KEY)
        written.append(root / KEY)
    if _ignore(root / IGNORE):
        written.append(root / IGNORE)
    return written


def _shipped() -> str:
    """The configuration that a course begins with; the limits that it shows in a comment are the defaults."""
    shipped = Path(__file__).with_name(CONFIG).read_text(encoding="utf-8")
    return shipped.replace("LIMITS", json.dumps({name: asdict(Limits())[name] for name in LIMITED}))


def _ignore(path: Path) -> bool:
    """Add missing private paths to .gitignore; returns whether any were missing."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    lacking = [name for name in PRIVATE if name not in before.splitlines()]
    if lacking:
        head = "# The course's key, students' work and marks stay out of every repository.\n"
        gap = "\n" if before and not before.endswith("\n") else ""
        path.write_text("".join([before, gap, head, *(f"{name}\n" for name in lacking)]), encoding="utf-8")
    return bool(lacking)


def _write_key(path: Path) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(32))


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = make_parser(
        "autograder.nbgrader.config",
        """
        Prepare an nbgrader course directory for sandboxed grading: write nbgrader_config.py, and the secret key with
        which verdicts are signed. Files that exist are kept.
        """,
        exits={0: "done", 1: "the directory cannot be written; the reason is on standard error"},
        examples=("python -m autograder.nbgrader.config my-course",),
    )
    parser.add_argument("directory", type=Path, metavar="COURSE_DIR", help="the nbgrader course directory")
    directory = parser.parse_args(arguments).directory
    try:
        written = install(directory)
    except OSError as error:
        parser.exit(1, f"autograder.nbgrader.config: {error_messages.explain(error, str(directory)) or error}\n")
    print("\n".join(f"wrote {path}" for path in written) or "nothing to do: configuration and key are there")


if __name__ == "__main__":
    main()
