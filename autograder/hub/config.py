"""The configuration of JupyterHub for a class: the recipe with the class's values, and what one machine needs."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from autograder.hub.class_file import HubClass, HubCourse

RECIPE = Path(__file__).parent / "recipe"
CONFIG = "jupyterhub_config.py"
STATE = "state"  # the Hub's own: its database, its cookies' secret, its proxy's
LOCAL = """
# One machine, from class.toml: a database in a file, a proxy that the Hub starts, accounts of the machine.
c.JupyterHub.bind_url = {address!r}
c.JupyterHub.hub_port = {hub_port}
c.JupyterHub.db_url = "sqlite:///{state}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = "{state}/cookie_secret"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.ConfigurableHTTPProxy.pid_file = "{state}/proxy.pid"
# releasing and collecting take longer than a proxy waits by default
c.ConfigurableHTTPProxy.command = [{proxy!r}, "--timeout=600000", "--proxy-timeout=600000"]
c.Authenticator.allowed_users = {users}
c.Authenticator.allow_existing_users = False  # or who was taken out of class.toml could still log in
c.JupyterHub.spawner_class = {spawner!r}
c.Spawner.cmd = [{server!r}]
c.Spawner.start_timeout = c.Spawner.http_timeout = 120
"""


def program(name: str) -> str:
    """Where a program is: beside this Python first, which is where its packages are. Empty if it is nowhere."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name) or ""


def home(user: str) -> str:
    """The account's home; where there is no such account, the usual place."""
    found = os.path.expanduser(f"~{user}")
    return f"/home/{user}" if found.startswith("~") else found


def course_folder(course: HubCourse) -> str:
    """Where the instructor builds the course."""
    return course.folder or f"{home(course.instructor)}/course"


def text(found: HubClass) -> str:
    """jupyterhub_config.py of the class."""
    head = (RECIPE / CONFIG).read_text(encoding="utf-8")
    values = {
        "COURSES": {course.instructor: course.name for course in found.courses},
        "SERVED": {course.instructor: course_folder(course) for course in found.services},
        "PORT": found.hub.service_port,
        "EXCHANGE": str(found.exchange),
    }
    for name, value in values.items():
        old = next(line for line in head.splitlines() if line.startswith(f"{name} = "))
        head = head.replace(old, f"{name} = {value!r}", 1)
    head = head.replace('"command": [shutil.which("autograder") or "autograder",',
                        f'"command": [{program("autograder") or "autograder"!r},')  # fmt: skip
    local = LOCAL.format(
        address=found.hub.address, hub_port=found.hub.hub_port, proxy_port=found.hub.proxy_port,
        state=found.folder / STATE, proxy=program("configurable-http-proxy") or "configurable-http-proxy",
        users="{" + ", ".join(map(repr, found.users)) + "}", spawner=found.hub.spawner or "localprocess",
        server=program("jupyterhub-singleuser") or "jupyterhub-singleuser",
    )  # fmt: skip
    own = f"load_subconfig({str(found.folder / found.hub.config)!r})\n" if found.hub.config else ""
    return head + local + own


def make_open(folder: Path) -> None:
    """Make the folder, and those above it that are not there, open to all whatever the umask. Raises OSError."""
    for one in reversed([folder, *folder.parents]):
        if not one.exists():
            one.mkdir()
            one.chmod(0o755)


def write(found: HubClass) -> Path:
    """Write the configuration, the settings of instructors and students, and the exchange; the path of the first.

    Raises OSError.
    """
    make_open(found.folder)
    for who in ("instructor", "student"):
        shutil.copytree(RECIPE / who, found.folder / who, dirs_exist_ok=True, copy_function=shutil.copyfile,
                        ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
        for one in [found.folder / who, *(found.folder / who).rglob("*")]:
            one.chmod(0o755 if one.is_dir() else 0o644)  # the users' servers read them
    (found.folder / STATE).mkdir(mode=0o700, exist_ok=True)
    if not found.exchange.exists():
        make_open(found.exchange)
        found.exchange.chmod(0o777)  # everybody hands in there; nbgrader makes what is below private
    path = found.folder / CONFIG
    path.write_text(text(found), encoding="utf-8")
    return path
