"""class.toml: who teaches and who attends which course, and where the Hub listens."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

FILE = "class.toml"
CONFIG = "jupyterhub_config.py"  # what `autograder hub up` writes beside it
NAME = re.compile(r"[a-z_][a-z0-9_.-]{0,31}")  # an account's, which JupyterHub also takes in lower case
COURSE = re.compile(r"[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?")  # also a name in Kubernetes, and part of an address
LAST_PORT = 65535


class ClassFileError(ValueError):
    """A class.toml that cannot be used; the message names the file and the entry, and says what to do."""


@dataclass(frozen=True, kw_only=True)
class HubCourse:
    """One course. folder: the instructor's, by default `course` in their home; serve: grade what is handed in."""

    name: str
    instructor: str
    students: tuple[str, ...] = ()
    folder: str = ""
    serve: bool = True


@dataclass(frozen=True, kw_only=True)
class HubSettings:
    """Where the Hub and its parts listen, on this machine; `config`: a file of your own that is loaded last; `spawner`:
    another way than accounts of this machine to start servers; `registry`: of the images, for Kubernetes."""

    address: str = "http://127.0.0.1:8000"
    hub_port: int = 8081
    proxy_port: int = 8001
    service_port: int = 10101
    exchange: str = ""
    config: str = ""
    spawner: str = ""
    registry: str = "registry.example.edu"


@dataclass(frozen=True)
class HubClass:
    """All of a class.toml."""

    folder: Path
    hub: HubSettings = field(default_factory=HubSettings)
    courses: tuple[HubCourse, ...] = ()

    @property
    def instructors(self) -> list[str]:
        """Each once: an instructor has one course."""
        return [course.instructor for course in self.courses]

    @property
    def users(self) -> list[str]:
        """Instructors, then students, each once."""
        return list(dict.fromkeys([*self.instructors, *(name for one in self.courses for name in one.students)]))

    @property
    def exchange(self) -> Path:
        """The exchange, beside class.toml unless that names another place."""
        return self.folder / (self.hub.exchange or "exchange")

    @property
    def services(self) -> list[HubCourse]:
        """The courses with a grading service."""
        return [course for course in self.courses if course.serve]


def read(folder: Path) -> HubClass:
    """The class.toml in the folder. Raises ClassFileError."""
    path = folder / FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ClassFileError(f"{path} is not there: `autograder hub up {folder} --instructor NAME --students NAMES` "
                             "writes it") from None  # fmt: skip
    except UnicodeDecodeError as error:
        raise ClassFileError(f"{path} is no text in UTF-8: {error}") from error
    return parse(load(text, str(path)), folder.resolve(), str(path))


def load(text: str, where: str) -> dict[str, Any]:
    """The tables of the text. Raises ClassFileError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ClassFileError(f"{where} is no TOML: {error}") from error


def parse(raw: dict[str, Any], folder: Path, where: str) -> HubClass:
    """The class that the file's tables describe. Raises ClassFileError, which begins with `where`."""
    if unknown := raw.keys() - {"hub", "course"}:
        raise ClassFileError(f"{where}: {min(unknown)!r} is no table of it; it has [hub] and [[course]]")
    tables = raw.get("course", [])
    if not (isinstance(tables, list) and tables and all(isinstance(one, dict) for one in tables)):
        raise ClassFileError(f"{where}: at least one [[course]] with a name and an instructor is needed")
    hub = HubSettings(**_typed(HubSettings, raw.get("hub", {}), f"{where}: [hub]"))
    courses = tuple(HubCourse(**_typed(HubCourse, one, f"{where}: [[course]] {number}"))
                    for number, one in enumerate(tables, 1))  # fmt: skip
    found = HubClass(folder, hub, courses)
    _check(found, where)
    return found


def _typed(kind: type, table: Any, where: str) -> dict[str, Any]:
    """The table's values, each of its key's type; lists become tuples."""
    if not isinstance(table, dict):
        raise ClassFileError(f"{where} must be a table")
    known = {one.name: str(one.type) for one in fields(kind)}
    values = {}
    for key, value in table.items():
        if key not in known:
            raise ClassFileError(f"{where}: {key!r} is no key of it; it has {', '.join(known)}")
        if known[key].startswith("tuple"):
            right = isinstance(value, list) and all(isinstance(one, str) for one in value)
            value = tuple(value) if right else value
        else:
            right = type(value).__name__ == known[key]
        if not right:
            said = {"str": "text", "int": "a whole number", "bool": "true or false"}.get(known[key], "a list of names")
            raise ClassFileError(f"{where}: {key} = {value!r} must be {said}")
        values[key] = value
    if lacking := {"name", "instructor"} & known.keys() - values.keys():
        raise ClassFileError(f"{where}: {min(lacking)} is missing")
    return values


def _check(found: HubClass, where: str) -> None:
    for course in found.courses:
        if not COURSE.fullmatch(course.name):
            raise ClassFileError(f"{where}: the course {course.name!r} must be called by small letters, digits and -")
    for user in found.users:
        if not NAME.fullmatch(user):
            raise ClassFileError(f"{where}: {user!r} is no name of an account: small letters, digits, . _ and -")
    for what, names in (("course", [one.name for one in found.courses]), ("instructor", found.instructors)):
        if twice := {name for name in names if names.count(name) > 1}:
            raise ClassFileError(f"{where}: {min(twice)} is the {what} of two courses; each course needs its own")
    if both := {name for one in found.courses for name in one.students} & set(found.instructors):
        raise ClassFileError(f"{where}: {min(both)} is an instructor and cannot be a student on the same Hub, where "
                             "an account has one set of settings")  # fmt: skip
    _check_places(found, where)


def _check_places(found: HubClass, where: str) -> None:
    hub = found.hub
    try:  # what is no number, too large, or half a bracket is refused there
        address = urlsplit(hub.address)
        right = address.scheme in ("http", "https") and bool(address.hostname and address.port)
    except ValueError:
        right = False
    if not right:
        raise ClassFileError(f"{where}: address = {hub.address!r} must be such as http://127.0.0.1:8000, with a port "
                             f"from 1 to {LAST_PORT}")  # fmt: skip
    if address.scheme == "https" and not hub.config:
        raise ClassFileError(f"{where}: address = {hub.address!r} needs a key and a certificate, without which the Hub "
                             "answers by plain http: set c.JupyterHub.ssl_key and ssl_cert in a file that `config` "
                             "names in [hub]")  # fmt: skip
    if hub.config and (found.folder / hub.config).resolve() == (found.folder / CONFIG).resolve():
        raise ClassFileError(f"{where}: config = {hub.config!r} is the file that `autograder hub up` writes, and would "
                             "load itself: put your own settings into another file, such as own.py")  # fmt: skip
    ports = {"hub_port": 1, "proxy_port": 1, "service_port": max(1, len(found.services))}
    for name, count in ports.items():
        first, last = getattr(hub, name), LAST_PORT + 1 - count
        if not 1 <= first <= last:
            raise ClassFileError(f"{where}: {name} = {first} must be from 1 to {last}")


def text(instructor: str, students: list[str], course: str, address: str) -> str:
    """A class.toml with one course."""
    names = ", ".join(map(json.dumps, students))
    return f"""\
# A class for `autograder hub up`. Everybody has an account on this machine and logs in with its password.
[hub]
address = {json.dumps(address)}
# config = "own.py"  # settings of JupyterHub that are loaded last: your authenticator, TLS, limits

[[course]]
name = {json.dumps(course)}
instructor = {json.dumps(instructor)}
students = [{names}]
# folder = "/home/{instructor}/course"  # where the instructor builds the course; a service grades what arrives there
"""
