"""Scores into a learning management system's own gradebook, by LTI 1.3's services for assignments, grades and members.

`lti.toml` in the course directory says which platform and course; the system's administrator has these values:

    issuer = "https://lms.example.edu"
    client_id = "10000000000001"
    token_url = "https://lms.example.edu/login/oauth2/token"
    lineitems = "https://lms.example.edu/api/lti/courses/7/line_items"
    members = "https://lms.example.edu/api/lti/courses/7/names_and_roles"
    key_file = "lti.pem"              # the tool's private key, whose public half the platform has
    audience = "https://lms…"         # where it is not the token_url
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import requests
from pylti1p3.assignments_grades import AssignmentsGradesService
from pylti1p3.exception import LtiException
from pylti1p3.grade import Grade
from pylti1p3.lineitem import LineItem
from pylti1p3.names_roles import NamesRolesProvisioningService
from pylti1p3.registration import Registration
from pylti1p3.service_connector import ServiceConnector

from autograder.report.scores import NoExport, Row, Scores

FILE = "lti.toml"
AGS = "https://purl.imsglobal.org/spec/lti-ags/scope/"
LOCAL = ("localhost", "127.0.0.1")


@dataclass(frozen=True, kw_only=True)
class Platform:
    """What `lti.toml` says."""

    issuer: str
    client_id: str
    token_url: str
    lineitems: str
    members: str
    key_file: str
    audience: str = ""


@dataclass(frozen=True)
class Sent:
    """What became of a passback: students whose score the platform took, and those it has no member for."""

    sent: list[str]
    unknown: list[str]


def platform(root: Path) -> Platform:
    """The platform of the course in `root`. Raises NoExport."""
    path = root / FILE
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoExport(f"there is no {path}: autograder/report/lti.py shows what stands in it") from None
    except (OSError, ValueError) as error:
        raise NoExport(f"{path} cannot be read: {error}") from None
    known = {field.name for field in fields(Platform)}
    wrong = sorted(({*found} ^ known) - ({"audience"} - {*found}))
    if wrong or not all(isinstance(value, str) for value in found.values()):
        look = ", ".join(wrong) or "what is no text"
        raise NoExport(f"{path} must have {', '.join(sorted(known))}, each a text; look at {look}")
    for name in ("token_url", "lineitems", "members"):
        parts = urlsplit(found[name])
        if parts.scheme != "https" and parts.hostname not in LOCAL:
            raise NoExport(f"{path}: {name} must begin with https://, since scores and keys' proofs go there")
    return Platform(**found)


def send(root: Path, scores: Scores) -> Sent:
    """Write each graded student's total to the platform, in a column of the assignment's name. Raises NoExport."""
    known = platform(root)
    try:
        return _send(_connector(known, root), known, scores)
    except (LtiException, requests.RequestException, ValueError) as error:
        said = getattr(getattr(error, "response", None), "text", "") or str(error)
        raise NoExport(f"{known.issuer} refused: {' '.join(said.split())[:300] or type(error).__name__}") from error


def _connector(known: Platform, root: Path) -> ServiceConnector:
    try:
        key = (root / known.key_file).read_text(encoding="utf-8")
    except OSError as error:
        raise NoExport(f"the key {root / known.key_file} cannot be read: {error.strerror}") from None
    tool = Registration().set_issuer(known.issuer).set_client_id(known.client_id)
    tool = tool.set_auth_token_url(known.token_url).set_tool_private_key(key)
    if known.audience:
        tool = tool.set_auth_audience(known.audience)
    return ServiceConnector(tool)


def _send(connector: ServiceConnector, known: Platform, scores: Scores) -> Sent:
    users = _users(NamesRolesProvisioningService(connector, {"context_memberships_url": known.members}).get_members())
    scopes = [AGS + "lineitem", AGS + "score"]
    service = AssignmentsGradesService(connector, {"scope": scopes, "lineitems": known.lineitems})  # type: ignore[typeddict-item]
    column = LineItem().set_tag(scores.assignment).set_label(scores.assignment).set_score_maximum(scores.max_score)
    column = service.find_or_create_lineitem(column)
    sent, unknown = [], []
    for row in (row for row in scores.rows if row.total is not None):
        user = users.get(row.student) or users.get(row.email)
        if user is None:
            unknown.append(row.student)
            continue
        service.put_grade(_grade(row, user, scores.max_score), column)
        sent.append(row.student)
    return Sent(sent, unknown)


def _users(members: list) -> Mapping[str, str]:
    """What students may be known by → the platform's id: its own, the institution's, or the address; active ones."""
    active = [one for one in members if one.get("status", "Active") == "Active"]
    names = ("email", "lis_person_sourcedid", "user_id")
    return {one[name]: one["user_id"] for name in names for one in active if one.get(name)}


def _grade(row: Row, user: str, maximum: float) -> Grade:
    assert row.total is not None
    grade = Grade().set_user_id(user).set_score_given(row.total).set_score_maximum(maximum)
    grade = grade.set_activity_progress("Completed").set_grading_progress("FullyGraded")
    return grade.set_timestamp(datetime.now(UTC).isoformat(timespec="milliseconds"))
