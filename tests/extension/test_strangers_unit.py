"""A unit of another project's package, as `course.new` writes it: the class panel and the check server see it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import requests

from course import new

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

NAME, UNIT, EXERCISE = "rotary_lab", "90-rotary-lab", "rotary_lab.cosine"
ANSWERS = {"ada": "divided_by_lengths", "ben": "only_one_is_divided"}


def run(folder: Path, env: dict[str, str], *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A course of that unit alone, handed in by two students and graded, and the environment that has the package."""
    tmp = tmp_path_factory.mktemp("stranger")
    package = new.write(NAME, tmp)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = os.environ | {"PYTHONPATH": str(tmp / "site"), "OMP_NUM_THREADS": "1", "PATH": path}
    run(tmp, env, "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", "site", str(package))
    run(tmp, env, "course.build", "my-course", "--unit", UNIT)
    root = tmp / "my-course"
    run(root, env, "nbgrader", "generate_assignment", UNIT)
    answers = {
        student: run(root, env, "autograder", "corpus", "show", EXERCISE, name) for student, name in ANSWERS.items()
    }
    for student, answer in answers.items():
        nb = nbformat.read(root / f"release/{UNIT}/{UNIT}.ipynb", as_version=4)
        asked = next(cell for cell in nb.cells if cell.metadata.get("tfkit", {}).get("role") == "exercise")
        asked.source = answer
        handed_in = root / f"submitted/{student}/{UNIT}/{UNIT}.ipynb"
        handed_in.parent.mkdir(parents=True)
        nbformat.write(nb, handed_in)
    run(root, env, "nbgrader", "autograde", UNIT, "--create")
    return SimpleNamespace(root=root, env=env, wrong=answers["ben"])


@pytest.fixture(scope="module")
def lab(graded: SimpleNamespace) -> Iterator[str]:
    """The address of a Jupyter server in the course's folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [f"--ServerApp.port={port}", "--IdentityProvider.token=secret", "--ServerApp.open_browser=False",
             "--ServerApp.jpserver_extensions=tfkit_lab=True", "--allow-root"]  # fmt: skip
    command, quiet = [sys.executable, "-m", "jupyter_server", *words], subprocess.DEVNULL
    server = subprocess.Popen(command, cwd=graded.root, env=graded.env, stdout=quiet, stderr=quiet)
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end and server.poll() is None:
            try:
                requests.get(f"http://127.0.0.1:{port}/api", timeout=5)
                break
            except requests.ConnectionError:
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/tfkit"
    finally:
        server.terminate()
        server.wait(60)


def ask(method: str, address: str, **how: object) -> dict:
    answer = requests.request(method, address, headers={"Authorization": "token secret"}, timeout=300, **how)
    assert answer.status_code == 200, answer.text[-2000:]
    return answer.json()


def test_the_class_panel_lists_what_each_student_has_of_it(lab: str) -> None:
    (assignment,) = ask("GET", f"{lab}/class")["assignments"]
    assert (assignment["assignment"], assignment["exercises"]) == (UNIT, [EXERCISE])
    states = {one["student"]: one["verdicts"][EXERCISE]["status"] for one in assignment["students"]}
    assert states == {"ada": "passed", "ben": "failed"}
    (common,) = assignment["commonest"]
    assert (common["exercise"], common["misconception"], common["students"]) == (EXERCISE, "only_one_is_divided", 1)
    assert common["sentence"].startswith("You divide only the vectors of x")


def test_the_check_server_names_its_misconception(lab: str, graded: SimpleNamespace) -> None:
    cells = [{"source": graded.wrong, "role": "exercise", "exercise": EXERCISE}]
    verdict = ask("POST", f"{lab}/check", json={"exercise": EXERCISE, "cells": cells})
    assert (verdict["status"], verdict["misconception"]) == ("failed", "only_one_is_divided")
    (unit,) = ask("GET", f"{lab}/course")["units"]
    assert unit["name"] == UNIT and unit["exercises"][0]["state"] == "failed"
