"""Sends scores to a learning management system's gradebook by LTI 1.3's services for assignments, grades and members.

`lti.toml` in the course directory names the platform and the course; docs/lti.md has an example and describes the keys.
A launch into the Hub writes that file (`autograder/launch`): make lti.toml a link to it.

Accepted scores are recorded in `passback.jsonl` beside it, so running the command again sends only new ones, or the
rest after an error. A busy platform (429, 502…) is tried again a few times, with growing delays.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from nbgrader.api import Gradebook
from pylti1p3.assignments_grades import AssignmentsGradesService
from pylti1p3.exception import LtiException
from pylti1p3.grade import Grade
from pylti1p3.lineitem import LineItem
from pylti1p3.names_roles import NamesRolesProvisioningService
from pylti1p3.registration import Registration
from pylti1p3.service_connector import REQUESTS_USER_AGENT, ServiceConnector
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from autograder.cluster.course import BadCourse, settings_of, working_in
from autograder.cluster.scores import ExportError, Scores, StudentScores
from autograder.launch.flow import LaunchError, username
from autograder.nbgrader.config import PASSBACK as LEDGER_FILE

FILE = "lti.toml"
AGS = "https://purl.imsglobal.org/spec/lti-ags/scope/"
LOCAL = ("localhost", "127.0.0.1")
BUSY = (429, 500, 502, 503, 504)
NameOf = Callable[[dict[str, Any]], str]
TRIES, BACKOFF_S = 4, 0.5  # retries, and the first delay, which doubles: half a second, one, two, four


@dataclass(frozen=True, kw_only=True)
class Platform:
    """The contents of `lti.toml`. name, use_email: as in `launch.platforms`, for user names."""

    issuer: str
    client_id: str
    token_url: str
    lineitems: str
    members: str
    key_file: str
    audience: str = ""
    name: str = ""
    use_email: bool | None = None

    def username(self, member: Mapping[str, Any]) -> str:
        """The user name of a member, as a launch gives it. Raises LaunchError if no id is usable."""
        return username(member, self.name, self.use_email)


@dataclass
class SendReport:
    """The result of a passback: students whose score was sent now or before, and those who are no members there."""

    sent: list[str] = field(default_factory=list)
    already_sent: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def platform(root: Path) -> Platform:
    """The platform of the course in `root`. Raises ExportError if lti.toml is missing or invalid."""
    path = root / FILE
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ExportError(f"{path} is missing: docs/lti.md describes its contents") from None
    except (OSError, ValueError) as error:
        raise ExportError(f"{path} cannot be read: {error}") from None
    known = {field.name for field in fields(Platform)}
    must = {field.name for field in fields(Platform) if field.default is MISSING}
    wrong = sorted((found.keys() - known) | (must - found.keys()))
    texts = {name: value for name, value in found.items() if name != "use_email"}
    if wrong or not all(isinstance(value, str) for value in texts.values()):
        look = ", ".join(wrong) or "what is no text"
        raise ExportError(f"{path} must have {', '.join(sorted(must))}, and may have audience and name, each a text; "
                          f"look at {look}")  # fmt: skip
    if not isinstance(found.get("use_email"), bool | None):
        raise ExportError(f"{path}: use_email must be true or false, not {found['use_email']!r}")
    for name in ("token_url", "lineitems", "members"):
        parts = urlsplit(found[name])
        if parts.scheme != "https" and parts.hostname not in LOCAL:
            raise ExportError(f"{path}: {name} must begin with https://, since scores and keys' proofs go there")
    return Platform(**found)


def send(root: Path, scores: Scores, again: bool = False) -> SendReport:
    """Write each graded student's total to the platform, in a column of the assignment's name. Raises ExportError.

    again: also sends scores that the platform has accepted already.
    """
    known, done = platform(root), SendReport()
    taken = SentLedger(root / LEDGER_FILE)
    try:
        _send(_connector(known, root, Retry(0)), _connector(known, root, _patient()), known, scores, taken, again, done)
    except (LtiException, requests.RequestException, ValueError) as error:
        message = getattr(getattr(error, "response", None), "text", "") or str(error)
        status = getattr(getattr(error, "response", None), "status_code", "")
        why = " ".join(f"{status} {message}".split())[:300] or type(error).__name__
        left = sum(row.total is not None for row in scores.rows) - sum(map(len, vars(done).values()))
        more = (
            f"; {len(done.sent)} were accepted before, {left} are left: run it again"
            if done.sent or done.already_sent
            else ""
        )
        raise ExportError(f"{known.issuer} refused: {why}{more}") from error
    return done


def enrol(root: Path) -> list[str]:
    """Add the platform's learners to the gradebook, with names and addresses; returns the new ones. Raises ExportError.

    They get the same user names as by a launch into the Hub; who has none that is valid is left out. Nobody is removed:
    nbgrader would delete their work.
    """
    known, added = platform(root), []
    try:
        service = NamesRolesProvisioningService(
            _connector(known, root, _patient()), {"context_memberships_url": known.members}
        )
        members = [one for one in service.get_members() if _learns(one)]
    except (LtiException, requests.RequestException, ValueError) as error:
        raise ExportError(f"{known.issuer} refused the list of members: {error}") from error
    try:
        app = settings_of(root.resolve())
    except BadCourse as error:
        raise ExportError(str(error)) from error
    with working_in(root), Gradebook(app.coursedir.db_url, app.coursedir.course_id) as gradebook:
        there = {student.id for student in gradebook.students}
        for one in members:
            try:
                name = known.username(one)
            except LaunchError:  # who cannot be launched either: nobody else waits for them
                continue
            details = {"first_name": one.get("given_name"), "last_name": one.get("family_name"),
                       "email": one.get("email"), "lms_user_id": one["user_id"]}  # fmt: skip
            gradebook.update_or_create_student(name, **{key: value for key, value in details.items() if value})
            added += [name] * (name not in there)
    return added


def _learns(member: Mapping[str, Any]) -> bool:
    active = member.get("status", "Active") == "Active"
    return active and any(str(role).rpartition("#")[2] == "Learner" for role in member.get("roles", ()))


def _patient() -> Retry:
    return Retry(
        total=TRIES, backoff_factor=BACKOFF_S, status_forcelist=BUSY, allowed_methods=None, raise_on_status=False
    )


def _connector(known: Platform, root: Path, retry: Retry) -> ServiceConnector:
    try:
        key = (root / known.key_file).read_text(encoding="utf-8")
    except OSError as error:
        raise ExportError(f"the key {root / known.key_file} cannot be read: {error.strerror}") from None
    tool = Registration().set_issuer(known.issuer).set_client_id(known.client_id)
    tool = tool.set_auth_token_url(known.token_url).set_tool_private_key(key)
    if known.audience:
        tool = tool.set_auth_audience(known.audience)
    session = requests.Session()
    session.headers["User-Agent"] = REQUESTS_USER_AGENT
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(max_retries=retry))
    return ServiceConnector(tool, session)


def _send(
    once: ServiceConnector, patient: ServiceConnector, known: Platform, scores: Scores, taken: SentLedger, again: bool,
    done: SendReport,
) -> None:  # fmt: skip
    """Fill `done`. `once` creates the column without retries, since a retry could create a second one."""
    users = _users(
        known, NamesRolesProvisioningService(patient, {"context_memberships_url": known.members}).get_members()
    )
    scopes = {"scope": [AGS + "lineitem", AGS + "score"], "lineitems": known.lineitems}
    column = LineItem().set_tag(scores.assignment).set_label(scores.assignment).set_score_maximum(scores.max_score)
    service = AssignmentsGradesService(patient, scopes)  # type: ignore[arg-type]
    column = service.find_lineitem_by_tag(scores.assignment) or AssignmentsGradesService(
        once,
        scopes,  # type: ignore[arg-type]
    ).find_or_create_lineitem(column)
    for row in (row for row in scores.rows if row.total is not None):
        user = users.get(row.student) or users.get(row.email)
        if user is None:
            done.unknown.append(row.student)
            continue
        entry = _entry(row, user, scores.max_score) | {"column": str(column.get_id())}
        if not again and taken.has(entry):
            done.already_sent.append(row.student)
            continue
        service.put_grade(_grade(entry), column)
        taken.add(entry)
        done.sent.append(row.student)


class SentLedger:
    """The scores that the platform accepted, one JSON line each; the last line of a member and column counts."""

    def __init__(self, path: Path) -> None:
        self._path, self._last = path, dict[tuple[str, str], dict[str, Any]]()
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            if text and not text.endswith("\n"):  # the last write was cut off by a kill or a full disk
                text = text[: text.rfind("\n") + 1]
                path.write_text(text, encoding="utf-8")
            for line in text.splitlines():
                entry = json.loads(line)
                self._last[entry["column"], entry["user"]] = entry
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ExportError(f"{path} cannot be read ({error}): delete it, and all scores are sent again") from None

    def has(self, entry: dict[str, Any]) -> bool:
        """Whether exactly this entry was accepted last."""
        return self._last.get((entry["column"], entry["user"])) == entry

    def add(self, entry: dict[str, Any]) -> None:
        """Record that the entry was accepted. Raises ExportError if passback.jsonl cannot be written."""
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, sort_keys=True) + "\n")
        except OSError as error:
            raise ExportError(f"{self._path} cannot be written: {error.strerror}") from None
        self._last[entry["column"], entry["user"]] = entry


def _users(known: Platform, members: list) -> Mapping[str, str]:
    """What students may be known by → the platform's id: their user name, the institution's, the platform's own id, or
    the address; of a platform with a name the user name alone, since the others may be those of another platform's
    user.

    Users can often change their addresses: what is known without an address is found first, and what several members
    call themselves finds none of them.
    """
    active = [one for one in members if one.get("status", "Active") == "Active"]
    apart = replace(known, use_email=False)
    ids: list[NameOf] = [apart.username, itemgetter("lis_person_sourcedid"), itemgetter("user_id")]
    addresses: list[NameOf] = [known.username, itemgetter("email")]
    found: dict[str, str | None] = {}
    for name_of in [apart.username, known.username] if known.name else ids + addresses:
        found = _names(active, name_of) | found
    return {name: user for name, user in found.items() if user is not None}


def _names(members: list, name_of: NameOf) -> dict[str, str | None]:
    """Name → the member's id, or None for a name that several have."""
    found: dict[str, str | None] = {}
    for one in members:
        with suppress(LaunchError, KeyError):
            if name := name_of(one):
                found[name] = one["user_id"] if found.get(name, one["user_id"]) == one["user_id"] else None
    return found


def _entry(row: StudentScores, user: str, maximum: float) -> dict[str, Any]:
    """The score message for a student; while manual marks are missing, the total is marked as partial (LTI AGS 2.0)."""
    comments = [f"less {row.penalty:g} for late submission"] if row.penalty else []
    comments += ["manual marks are missing"] if row.waits else []
    progress = "PendingManual" if row.waits or row.review else "FullyGraded"
    return {"user": user, "score": row.total, "maximum": maximum, "progress": progress, "comment": "; ".join(comments)}


def _grade(entry: dict[str, Any]) -> Grade:
    grade = Grade().set_user_id(entry["user"]).set_score_given(entry["score"]).set_score_maximum(entry["maximum"])
    grade = grade.set_activity_progress("Completed").set_grading_progress(entry["progress"])
    if entry["comment"]:
        grade = grade.set_comment(entry["comment"])
    return grade.set_timestamp(datetime.now(UTC).isoformat(timespec="milliseconds"))
