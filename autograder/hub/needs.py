"""What a Hub for a class needs of this machine, and does not find: each lack in a line, with what to do."""

from __future__ import annotations

import importlib.util
import os
import shlex
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from autograder import sandbox
from autograder.hub import config
from autograder.hub.class_file import FILE, HubClass
from tfkit_course import install

PROGRAMS = {
    "configurable-http-proxy": "the proxy in front of the Hub; Node.js's does as well: npm install -g "
    "configurable-http-proxy",
    "jupyterhub-singleuser": "a user's server",
    "autograder": "the grading service",
}


def lacks(found: HubClass) -> list[str]:
    """What is missing, or in the way; the Hub can be started if there is nothing."""
    return [*_packages(), *_rights(found), *_accounts(found), *_folders(found), *_ports(found), *_sandbox()]


def remarks(found: HubClass) -> Iterator[str]:
    """What does not stop a Hub and should be known: homes that others can read."""
    for course in found.courses:
        home = Path(config.home(course.instructor))
        if home.is_dir() and home.stat().st_mode & 0o077:
            yield f"{home} can be read by others, and the course's key and gradebook are kept there: chmod 700 {home}"
    host = urlsplit(found.hub.address).hostname
    if host not in ("127.0.0.1", "localhost", "::1") and urlsplit(found.hub.address).scheme == "http":
        yield (f"{found.hub.address} is not encrypted, and passwords travel over it: put a proxy with TLS before it, "
               "or set c.JupyterHub.ssl_key and ssl_cert in `config`")  # fmt: skip


def _packages() -> Iterator[str]:
    modules = {"jupyterhub": "hub", "jupyterlab": "lab", "nbgrader": "grading", "distributed": "cluster"}
    absent = [name for name in modules if importlib.util.find_spec(name) is None]
    if absent:
        extras = [modules[name] for name in absent]
        yield f"{', '.join(absent)} cannot be imported: {install(*extras)}"
    for name, what in PROGRAMS.items():
        if not config.program(name):
            yield f"there is no program {name} ({what}): {install('hub')}"


def _rights(found: HubClass) -> Iterator[str]:
    if not os.geteuid():
        return
    words = ["sudo", sys.executable, "-m", "autograder", "hub", "up", str(found.folder)]
    if not (found.folder / FILE).exists():  # it is written when nothing is missing
        (course,) = found.courses
        words += ["--instructor", course.instructor, "--course", course.name, "--address", found.hub.address,
                  "--students", *course.students]  # fmt: skip
    if not found.hub.spawner:
        yield (f"only root can start a server as {found.users[0]}: {shlex.join(words)}, or name a `spawner` in "
               "class.toml")  # fmt: skip
    elif others := [one for one in found.services if not _is_own(one.instructor)]:
        yield (f"only root can start a grading service as {others[0].instructor}: {shlex.join(words)}, or set "
               f"`serve = false` for the course {others[0].name} in class.toml")  # fmt: skip


def _is_own(account: str) -> bool:
    import pwd  # Linux has it; `autograder check`, whose parser imports this room, runs on Windows too

    try:
        return pwd.getpwnam(account).pw_uid == os.geteuid()
    except KeyError:
        return False


def _accounts(found: HubClass) -> Iterator[str]:
    # whatever starts the users' servers, JupyterHub starts a grading service as the instructor's account
    needed = [one.instructor for one in found.services] if found.hub.spawner else found.users
    absent = [user for user in needed if os.path.expanduser(f"~{user}").startswith("~")]
    if absent:
        yield (f"no account on this machine: {', '.join(absent)}; make each with `useradd --create-home NAME` and "
               "`passwd NAME`, or take them out of class.toml")  # fmt: skip


def _folders(found: HubClass) -> Iterator[str]:
    """Each folder that the users' servers read, and a folder above it that is closed to them."""
    if not found.hub.spawner:
        kit = Path(__file__).parents[1]
        places = {"the environment": Path(sys.prefix), "Python": Path(sys.base_prefix), "the kit": kit,
                  "class.toml": found.folder}  # fmt: skip
        for what, place in places.items():
            closed = next((one for one in [place, *place.parents] if _closed(one)), None)
            if closed is not None:
                yield (f"users cannot enter {closed}, where {what} is: install and run in a folder that is open to "
                       "all, such as /opt or /srv")  # fmt: skip
    if found.exchange.is_dir() and found.exchange.stat().st_mode & 0o777 != 0o777:
        yield f"not everybody can hand in at {found.exchange}: chmod 777 {found.exchange}"
    if found.hub.config and not (found.folder / found.hub.config).is_file():
        yield f"{found.folder / found.hub.config} is not there, which class.toml names as `config`"
    if why := config.in_the_way(found):
        yield why


def _closed(folder: Path) -> bool:
    return folder.is_dir() and not folder.stat().st_mode & 0o001


def _ports(found: HubClass) -> Iterator[str]:
    address, hub = urlsplit(found.hub.address), found.hub
    wanted = [("address", address.hostname or "", address.port or 0), ("hub_port", "127.0.0.1", hub.hub_port),
              ("proxy_port", "127.0.0.1", hub.proxy_port)]  # fmt: skip
    wanted += [("service_port", "127.0.0.1", hub.service_port + number) for number in range(len(found.services))]
    seen: dict[int, str] = {}
    for name, host, port in wanted:
        if port in seen:
            yield f"{name} and {seen[port]} are both port {port}: give one another in [hub] of class.toml"
        elif error := _taken(host, port):
            yield f"{host}:{port} cannot be opened ({error}): stop what uses it, or set {name} in [hub] of class.toml"
        seen[port] = name


def _taken(host: str, port: int) -> str:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the Hub does: no wait after a restart
            one.bind((host, port))
    except OSError as error:
        return (error.strerror or str(error)).lower()
    except (UnicodeError, TypeError):  # of letters that cannot be encoded for it
        return "no name of a machine"
    return ""


def _sandbox() -> Iterator[str]:
    try:
        sandbox.choose()
    except sandbox.SandboxError as error:
        yield str(error)
