"""A real JupyterHub that `autograder hub up` starts, with three users of their own: a teacher and two students.

A service grades what arrives in the teacher's course, which is made after the Hub and its service were started. The Hub
runs in a folder that only root can enter. Its authenticator, and what the test asks with, are in a file of its own.

The users are in the machine's list only within a mount namespace of the test (bubblewrap's), so nothing is left behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests
import websocket

from autograder.nbgrader import config
from autograder.sandbox import SandboxError
from autograder.sandbox.bubblewrap import find_bwrap
from course import new

from ..autograder.nbgrader.conftest import UNIT, source_notebook

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.xdist_group("hub")]  # one hub for all

ROOT = Path(__file__).parents[2]
THEIRS, THEIR_EXERCISE = "90-rotary-lab", "rotary_lab.cosine"  # a unit that no package of this project has
SERVICE = "/services/grader-tfkit/"
USERS = {"teacher": 20001, "ada": 20002, "ben": 20003}
CLASS = """
[hub]
address = "http://127.0.0.1:{port}"
hub_port = {hub}
proxy_port = {proxy}
service_port = {grader}
exchange = "{folder}/exchange"
config = "own.py"

[[course]]
name = "tfkit"
instructor = "teacher"
students = ["ada", "ben"]
"""
OWN = """
c.JupyterHub.authenticator_class = "dummy"
c.Spawner.environment.update({{"OMP_NUM_THREADS": "1", "PYTHONPATH": {path!r}}})
c.Spawner.start_timeout = c.Spawner.http_timeout = 300
c.JupyterHub.services.append({{"name": "test", "api_token": {token!r}}})
c.JupyterHub.load_roles.append({{"name": "test", "services": ["test"],
    "scopes": ["admin:users", "admin:servers", "tokens", "access:servers"]}})
"""


def reachable(*places):
    """bubblewrap's words that let other users get to these folders, where a folder above is closed to them."""
    words, emptied = [], set()
    for place in map(Path, places):
        above = list(reversed(place.parents))
        closed = next((folder for folder in above if not folder.stat().st_mode & 0o001), None)
        if closed is None:
            continue
        words += ["--tmpfs", str(closed)] * (closed not in emptied)
        emptied.add(closed)
        for folder in above[above.index(closed) + 1 :]:
            words += ["--perms", "0755", "--dir", str(folder)]
        words += ["--ro-bind", str(place), str(place)]
    return words


def namespace(folder):
    """The words before a command that is to see our users."""
    lines = [f"{name}:x:{uid}:{uid}::{folder}/home/{name}:/bin/bash\n" for name, uid in USERS.items()]
    (folder / "passwd").write_text(Path("/etc/passwd").read_text() + "".join(lines))
    groups = [f"{name}:x:{uid}:\n" for name, uid in USERS.items()]
    (folder / "group").write_text(Path("/etc/group").read_text() + "".join(groups))
    lists = [word for name in ("passwd", "group") for word in ("--ro-bind", f"{folder}/{name}", f"/etc/{name}")]
    open_to_all = reachable(sys.base_prefix, sys.prefix, ROOT)
    whole = ["--dev-bind", "/", "/", "--proc", "/proc", *open_to_all, *lists]
    return [find_bwrap(), "--die-with-parent", "--unshare-pid", *whole, "--cap-add", "ALL", "--"]


def why_not(folder):
    """Why three users cannot be had here, if they cannot."""
    if os.geteuid():
        return "only root can start servers of three users"
    probe = f"import os; os.setgid(20002); os.setuid(20002); import jupyterhub, nbgrader; os.listdir({str(ROOT)!r})"
    try:
        done = subprocess.run([*namespace(folder), sys.executable, "-c", probe], capture_output=True, text=True)
    except SandboxError as error:
        return f"bubblewrap gives the test users of its own: {error}"
    return f"no user of its own can be had here: {done.stderr.strip()[-200:]}" if done.returncode else ""


def ports(number):
    with contextlib.ExitStack() as stack:
        some = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in some:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in some]


class Hub:
    """The hub's API, and its users' servers."""

    def __init__(self, port, token):
        self.url, self.tokens = f"http://127.0.0.1:{port}", {"": token}

    def ask(self, method, path, who="", **how):
        """A request with the token of `who`; the test's own where nobody is named."""
        headers = {"Authorization": f"token {self.tokens[who]}"}
        return requests.request(method, self.url + path, headers=headers, timeout=300, allow_redirects=False, **how)

    def wait(self, asked, seconds=300):
        """What `asked` gives as soon as it gives anything true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(requests.ConnectionError):
                if got := asked():
                    return got
            time.sleep(0.5)
        raise TimeoutError

    def start(self, user):
        """A server for the user, and a token that is theirs."""
        self.ask("POST", f"/hub/api/users/{user}")
        self.ask("POST", f"/hub/api/users/{user}/server")
        self.wait(lambda: self.ask("GET", f"/hub/api/users/{user}").json()["servers"].get("", {}).get("ready"))
        self.tokens[user] = self.ask("POST", f"/hub/api/users/{user}/tokens", json={}).json()["token"]

    def run(self, user, code):
        """What Python code prints in a kernel of the user's."""
        kernel = self.ask("POST", f"/user/{user}/api/kernels", user, json={"name": "python3"}).json()["id"]
        address = f"{self.url.replace('http', 'ws')}/user/{user}/api/kernels/{kernel}/channels"
        channel = websocket.create_connection(
            address, header=[f"Authorization: token {self.tokens[user]}"], timeout=120
        )
        header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "username": user, "session": "s"}
        content = {"code": code, "silent": False, "store_history": False, "user_expressions": {}, "allow_stdin": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        channel.send(json.dumps(message))
        said = ""
        while True:
            got = json.loads(channel.recv())
            if got["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            if got["msg_type"] == "stream":
                said += got["content"]["text"]
            if got["msg_type"] == "status" and got["content"]["execution_state"] == "idle":
                channel.close()
                self.ask("DELETE", f"/user/{user}/api/kernels/{kernel}", user)
                return said


@pytest.fixture(scope="module")
def hub():
    pytest.importorskip("jupyterhub", reason="JupyterHub is not installed: pip install jupyterhub")
    folder = Path(tempfile.mkdtemp(prefix="hub"))
    process = None
    try:
        folder.chmod(0o755)
        if reason := why_not(folder):
            pytest.skip(reason)
        prepare(folder)
        port, inner, proxy, grader = ports(4)
        token = uuid.uuid4().hex
        site = str(folder / "site")
        described = CLASS.format(port=port, hub=inner, proxy=proxy, grader=grader, folder=folder)
        (folder / "class" / "class.toml").write_text(described)
        (folder / "class" / "own.py").write_text(OWN.format(path=site, token=token))
        env = os.environ | {"PYTHONPATH": site}
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [*namespace(folder), sys.executable, "-m", "autograder", "hub", "up", str(folder / "class")],
                cwd="/", env=env, stdout=log, stderr=log,
            )  # fmt: skip
        started = Hub(port, token)
        try:
            started.wait(lambda: process.poll() is not None or started.ask("GET", "/hub/api/").ok)
            for user in USERS:
                started.start(user)
            started.wait(lambda: started.ask("GET", f"{SERVICE}health").text == "waiting\n")
            make_course(folder)
        except (TimeoutError, requests.RequestException, KeyError) as error:
            pytest.fail(f"{error!r}\n" + (folder / "log").read_text()[-4000:])
        yield SimpleNamespace(url=started.url, ask=started.ask, run=started.run, wait=started.wait, folder=folder)
    finally:
        if process is not None:
            process.kill()  # and with it all that runs in its namespace
            process.wait(60)
        shutil.rmtree(folder)


def prepare(folder):
    """Homes that only their owners open, and a folder for the class."""
    (folder / "class").mkdir(mode=0o755)
    package = new.write("rotary_lab", folder)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target"]
    subprocess.run([*pip, str(folder / "site"), str(package)], check=True, timeout=120)
    for user in USERS:
        (folder / "home" / user).mkdir(parents=True)
    for user, uid in USERS.items():
        home = folder / "home" / user
        for path in [home, *home.rglob("*")]:
            os.chown(path, uid, uid)
        home.chmod(0o700)


def make_course(folder):
    """The teacher's course, made after the teacher's server was started: in the order of docs/jupyterhub.md."""
    course = folder / "home" / "teacher" / "course"
    config.install(course)
    (course / "source" / UNIT).mkdir(parents=True)
    (course / "source" / UNIT / f"{UNIT}.ipynb").write_text(json.dumps(source_notebook()))
    build = [sys.executable, "-m", "course.build", str(course), "--unit", THEIRS]
    subprocess.run(build, env=os.environ | {"PYTHONPATH": str(folder / "site")}, check=True, timeout=300)
    for path in [course, *course.rglob("*")]:
        os.chown(path, USERS["teacher"], USERS["teacher"])


def disabled(hub, user):
    """Plugins that JupyterLab's page of this user leaves out."""
    page = hub.ask("GET", f"/user/{user}/lab", user)
    assert page.status_code == 200, page.text[-2000:]
    settings = page.text.partition('id="jupyter-config-data"')[2].partition(">")[2].partition("</script>")[0]
    return set(json.loads(settings)["disabledExtensions"])


def test_the_formgrader_opens_for_the_teacher_alone(hub):
    page = hub.ask("GET", "/user/teacher/formgrader/manage_assignments", "teacher")
    assert page.status_code == 200 and "nbgrader formgrade" in page.text
    assert "frame-ancestors 'self'" in page.headers["Content-Security-Policy"]  # else JupyterLab shows an empty frame
    assignments = hub.ask("GET", "/user/teacher/formgrader/api/assignments", "teacher").json()
    assert sorted(one["name"] for one in assignments) == [UNIT, THEIRS]
    for student in ("ada", "ben"):
        assert hub.ask("GET", f"/user/{student}/formgrader/manage_assignments", student).status_code == 404
        assert hub.ask("GET", f"/user/{student}/formgrader/api/assignments", student).status_code == 404


def test_the_hubs_own_files_are_roots_alone(hub):
    state, said = hub.folder / "class" / "state", (hub.folder / "log").read_text()
    assert state.stat().st_mode & 0o777 == 0o700 and (state / "jupyterhub.sqlite").is_file()
    assert f"the Hub will answer at {hub.url}" in said and "course.build" in said
    assert hub.run("ada", TRY.format(paths=[(str(state), True)])) == f'[{USERS["ada"]}, "PermissionError"]\n'


def test_who_is_not_in_the_class_cannot_log_in(hub):
    page = requests.get(f"{hub.url}/hub/login", timeout=60)
    form = {"username": "mallory", "password": "x", "_xsrf": page.cookies["_xsrf"]}
    said = requests.post(f"{hub.url}/hub/login", data=form, cookies=page.cookies, timeout=60, allow_redirects=False)
    assert said.status_code == 403


def test_students_do_not_see_the_instructors_plugins(hub):
    hidden = {"@jupyter/nbgrader:formgrader", "@jupyter/nbgrader:create-assignment", "@tfkit/lab:instructor"}
    assert hidden <= disabled(hub, "ada") and hidden <= disabled(hub, "ben")
    assert not hidden & disabled(hub, "teacher")


def test_nobody_opens_anothers_server(hub):
    for who, whose in (("ada", "ben"), ("ada", "teacher"), ("ben", "ada")):
        assert hub.ask("GET", f"/user/{whose}/api/contents", who).status_code in (403, 404)
        assert hub.ask("GET", f"/user/{who}/api/contents", who).status_code == 200


TRY = """
import json, os
def tried(what, path):
    try:
        what(path)
    except OSError as error:
        return type(error).__name__
    return "allowed"
read = lambda path: open(path).read()
print(json.dumps([os.getuid(), *(tried(os.listdir if folder else read, path) for path, folder in {paths})]))
"""


def test_an_assignment_goes_out_comes_back_and_stays_private(hub):
    exchange, home = hub.folder / "exchange" / "tfkit", hub.folder / "home"
    for step in ("assign", "release"):
        said = hub.ask("POST", f"/user/teacher/formgrader/api/assignment/{UNIT}/{step}", "teacher").json()
        assert said["success"], said
    for student in ("ada", "ben"):
        listed = hub.ask("GET", f"/user/{student}/assignments?course_id=tfkit", student).json()
        assert [one["assignment_id"] for one in listed["value"]] == [UNIT], listed
        for action in ("fetch", "submit"):
            form = {"course_id": "tfkit", "assignment_id": UNIT}
            said = hub.ask("POST", f"/user/{student}/assignments/{action}", student, data=form).json()
            assert said["success"], said
        assert (home / student / UNIT / f"{UNIT}.ipynb").stat().st_uid == USERS[student]
    handed_in = next((exchange / "inbound").glob(f"ben+{UNIT}+*"))
    paths = [(exchange / "inbound", True), (home / "ben" / UNIT / f"{UNIT}.ipynb", False), (home / "ben", True),
             (home / "teacher" / "course" / "course.key", False), (home / "teacher" / "course" / "gradebook.db", False),
             (home / "ada" / UNIT / f"{UNIT}.ipynb", False)]  # fmt: skip
    asked = TRY.format(paths=[(str(path), folder) for path, folder in paths])
    assert json.loads(hub.run("ada", asked)) == [USERS["ada"], *["PermissionError"] * 5, "allowed"]
    assert handed_in.is_dir()
    said = hub.ask("POST", f"/user/teacher/formgrader/api/assignment/{UNIT}/collect", "teacher").json()
    assert said["success"], said
    submitted = home / "teacher" / "course" / "submitted"
    assert sorted(path.name for path in submitted.iterdir()) == ["ada", "ben"]
    assert all((submitted / name / UNIT / f"{UNIT}.ipynb").is_file() for name in ("ada", "ben"))


def test_a_unit_of_anothers_package_goes_round(hub):
    """Released, checked in the student's own lab, handed in, graded, and shown in the class panel."""
    for step in ("assign", "release"):
        said = hub.ask("POST", f"/user/teacher/formgrader/api/assignment/{THEIRS}/{step}", "teacher").json()
        assert said["success"], said
    form = {"course_id": "tfkit", "assignment_id": THEIRS}
    assert hub.ask("POST", "/user/ada/assignments/fetch", "ada", data=form).json()["success"]
    notebook = hub.folder / "home/ada" / THEIRS / f"{THEIRS}.ipynb"
    nb = json.loads(notebook.read_text())
    cell = next(cell for cell in nb["cells"] if cell["metadata"].get("tfkit", {}).get("role") == "exercise")
    show = [sys.executable, "-m", "autograder", "corpus", "show", THEIR_EXERCISE, "only_one_is_divided"]
    cell["source"] = subprocess.run(
        show, env=os.environ | {"PYTHONPATH": str(hub.folder / "site")}, capture_output=True, text=True, check=True
    ).stdout
    notebook.write_text(json.dumps(nb))
    cells = [{"source": cell["source"], "role": "exercise", "exercise": THEIR_EXERCISE}]
    asked = json.dumps({"exercise": THEIR_EXERCISE, "cells": cells})
    verdict = hub.ask("POST", "/user/ada/tfkit/check", "ada", data=asked).json()
    assert verdict.get("misconception") == "only_one_is_divided", verdict
    assert hub.ask("POST", "/user/ada/assignments/submit", "ada", data=form).json()["success"]
    counts = hub.wait(lambda: returned(hub, THEIRS))
    assert (counts["graded"], counts["failures"]) == (1, {})
    assert hub.ask("POST", "/user/ada/assignments/fetch_feedback", "ada", data=form).json()["success"]
    (page,) = (hub.folder / "home/ada" / THEIRS / "feedback").rglob("*.html")
    assert page.stat().st_uid == USERS["ada"] and THEIR_EXERCISE in page.read_text()
    said = hub.ask("POST", f"/user/teacher/formgrader/api/submission/{THEIRS}/ada/autograde", "teacher").json()
    assert said["success"], said  # the formgrader can grade it again
    shown = hub.ask("GET", "/user/teacher/tfkit/class", "teacher").json()["assignments"]
    (student,) = next(one["students"] for one in shown if one["assignment"] == THEIRS)
    assert student["verdicts"][THEIR_EXERCISE]["misconception"] == "only_one_is_divided"


def returned(hub, assignment):
    """What the service has done with an assignment as soon as it has returned some feedback, or None."""
    counts = hub.ask("GET", f"{SERVICE}?json", "teacher").json()["courses"].get("tfkit", {}).get(assignment)
    return counts if counts and counts["returned"] else None


def test_the_service_is_shown_to_its_teacher_alone(hub):
    assert hub.ask("GET", SERVICE, "teacher").status_code == 200
    assert hub.ask("GET", SERVICE, "ada").status_code == 403
    assert hub.ask("GET", f"{SERVICE}health").text == "ok\n"


def test_a_teacher_can_grade_on_submission_in_a_terminal_too(hub):
    """The terminal knows the address of the teacher's own server, which `autograder serve` must leave alone."""
    code = """
import os, subprocess, sys
words = [sys.executable, "-m", "autograder", "serve", os.path.expanduser("~/course"), "--once", "--workers", "1"]
done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(os.environ["JUPYTERHUB_SERVICE_URL"], done.returncode, done.stdout)
"""
    address, code, said = hub.run("teacher", code).split(maxsplit=2)
    assert address.startswith("http://127.0.0.1:") and code == "0", said
    assert "grading new submissions of" in said
