"""Regrade requests: a student sends one through nbgrader's exchange, and the instructor's side reads them there.

A request is a folder in the exchange's inbound folder, as a submission is: `ada+02-masks.regrade+<time>+<random>`, with
a `request.json`. nbgrader's own commands look for `+02-masks+` and pass it by. Students can write to that folder, but
not list it, and the owner of what lies there is known. A request holds words alone: only a person changes a score.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbgrader.apps import SubmitApp
from nbgrader.auth import Authenticator
from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default.submit import ExchangeSubmit
from nbgrader.utils import find_owner

from autograder.cluster.course import working_in
from autograder.marking.question import MAX_REASON, BadRegradeRequest, find_question_id
from autograder.marking.store import MarkedCell, NewRequest
from autograder.nbgrader.exchange import Collect
from tfkit_course.small_file import read_small_json

SUFFIX = ".regrade"
FILE = "request.json"
MAX_BYTES = 20_000
MAX_OF_ONE = 50  # at most so many new requests are read of one student from one account of the machine


class RequestExchange(ExchangeSubmit):
    """Sends a regrade request through the same exchange folder as `nbgrader submit`."""

    request: dict[str, str]
    assignment_filename: str

    def fail(self, msg: str) -> None:
        """Raise ExchangeError without logging the message, which the parent class does."""
        raise ExchangeError(msg)

    def init_src(self) -> None:
        """Do nothing: no file of the student's folder is sent."""

    def init_dest(self) -> None:
        """As in the parent class, under a name that cannot be an assignment's."""
        super().init_dest()
        name, assignment = str(self.assignment_filename), self.coursedir.assignment_id
        self.assignment_filename = name.replace(f"+{assignment}+", f"+{assignment}{SUFFIX}+", 1)

    def copy_files(self) -> None:
        """Write the request so that the instructor can read and delete it."""
        self.init_release()
        target = Path(self.inbound_path) / self.assignment_filename
        target.mkdir()
        for name, text in ((FILE, json.dumps(self.request)), ("timestamp.txt", self.timestamp)):
            (target / name).write_text(text, encoding="utf-8")
            (target / name).chmod(0o644)
        target.chmod(0o777)  # as `nbgrader submit` does: nobody else can guess the name


def send(notebook: Path, question: str, reason: str) -> str:
    """Send a regrade request for a question of this notebook and return the question's id.

    `question`: its id, or the id of its exercise. The notebook is in the folder that was fetched, `02-masks/`.
    Raises BadRegradeRequest if the notebook has no such question or the exchange refuses the request.
    """
    cell = find_question_id(notebook, question, reason)
    folder = notebook.resolve().parent
    with working_in(folder.parent):
        app = SubmitApp(log_level="CRITICAL")
        app.initialize([])
        app.coursedir.assignment_id = folder.name
        sends = RequestExchange(coursedir=app.coursedir, authenticator=Authenticator(parent=app), parent=app)
        if sends.path_includes_course:
            app.coursedir.course_id = folder.parent.name
        sends.request = {"notebook": notebook.stem, "cell": cell, "reason": reason.strip()}
        try:
            sends.start()
        except (ExchangeError, OSError) as error:
            raise BadRegradeRequest(f"the request was not sent: {error}") from error
    return cell


def new_requests(app: Any, known: Collection[str]) -> Iterator[NewRequest]:
    """The valid requests in the exchange of `app`'s course whose folders are not in `known`, oldest first."""
    collect = Collect(coursedir=app.coursedir, parent=app)
    inbound = Path(collect.root) / app.coursedir.course_id / "inbound"
    count: dict[tuple[str, int | None], int] = {}  # by account as well: others, too, write in a student's name
    for folder in sorted(inbound.glob(f"*+*{SUFFIX}+*")):
        student, _, rest = folder.name.partition("+")
        if folder.name in known:
            continue
        of = student, _uid(folder)
        count[of] = count.get(of, 0) + 1
        if count[of] > MAX_OF_ONE:
            continue
        if (new := _read(folder, student, rest.partition("+")[0].removesuffix(SUFFIX))) is not None:
            yield new


def _read(folder: Path, student: str, assignment: str) -> NewRequest | None:
    """The request in this folder, or None if it is invalid: a student may have written anything there."""
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            return None
        fields = read_small_json(folder / FILE, MAX_BYTES)
        of = MarkedCell(assignment, str(fields["notebook"]), str(fields["cell"]))
        reason = str(fields["reason"]).strip()
        sender = _owner(folder)
        at = datetime.fromtimestamp((folder / FILE).lstat().st_mtime, UTC).isoformat(timespec="seconds")
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return NewRequest(of, student, reason[:MAX_REASON], sender, folder.name, at) if reason else None


def _uid(folder: Path) -> int | None:
    """The account that the folder belongs to; None if it was removed meanwhile."""
    try:
        return folder.lstat().st_uid
    except OSError:
        return None


def _owner(folder: Path) -> str:
    try:
        return str(find_owner(str(folder)))
    except KeyError:
        return "unknown"
