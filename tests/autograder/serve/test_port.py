"""The port of a service of the Hub: it answers before the service has started, whatever keeps that from starting."""

from __future__ import annotations

import io
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from http.client import HTTPConnection
from types import SimpleNamespace

import pytest
from rich.console import Console
from tornado.web import Application, RequestHandler

from autograder.cli import main
from autograder.cluster import grading_process
from autograder.cluster.pool import PoolError
from autograder.serve import command, port
from tfkit_course.interrupt import Interrupt

PREFIX = "/services/grader/"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def of_a_service(number):
    """What a Hub tells a service that it starts."""
    return {"JUPYTERHUB_SERVICE_NAME": "grader", "JUPYTERHUB_SERVICE_URL": f"http://127.0.0.1:{number}",
            "JUPYTERHUB_SERVICE_PREFIX": PREFIX, "JUPYTERHUB_API_TOKEN": "t", "JUPYTERHUB_CLIENT_ID": "service-grader",
            "JUPYTERHUB_API_URL": "http://127.0.0.1:1/hub/api"}  # fmt: skip


def get(number, path=PREFIX):
    connection = HTTPConnection("127.0.0.1", number, timeout=30)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def serve(folder, *courses, env=None, **how):
    words = [sys.executable, "-m", "autograder", "serve", *map(str, courses), "--workers", "1", "--every", "0.2"]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        words, cwd=folder, env=os.environ | (env or {}), stdout=pipe, stderr=subprocess.STDOUT, text=True, **how
    )


def test_it_answers_that_the_service_starts_until_there_is_a_page():
    class Page(RequestHandler):
        def get(self):
            self.finish("the page")

    number = free_port()
    opened = port.open_for_hub(of_a_service(number))
    assert get(number) == get(number, f"{PREFIX}health") == (200, port.STARTING)
    opened.show(Application([(PREFIX, Page)]))
    assert get(number) == (200, "the page")


def test_only_a_service_takes_the_address_for_its_own():
    """A user's server and its terminals know the address of that server by the same name."""
    number = free_port()
    of_a_server = of_a_service(number) | {"JUPYTERHUB_USER": "teacher"}
    del of_a_server["JUPYTERHUB_SERVICE_NAME"]
    assert port.open_for_hub(of_a_server) is None and port.open_for_hub({}) is None
    with socket.socket() as free:
        free.bind(("127.0.0.1", number))


def test_a_port_that_is_taken_is_one_line_with_port_and_reason(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        process = serve(tmp_path, tmp_path / "course", env=of_a_service(number))
        said, _ = process.communicate(timeout=120)
    assert process.returncode == 2
    assert re.fullmatch(rf"autograder: port {number} of 127\.0\.0\.1, .* \(Address already in use\): .*\n", said), said


def test_a_working_directory_that_is_closed_is_left(tmp_path, monkeypatch):
    out = io.StringIO()
    monkeypatch.chdir(tmp_path)
    command.leave_closed_directory(Console(file=out))
    assert os.getcwd() == str(tmp_path) and not out.getvalue()
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    command.leave_closed_directory(Console(file=out, width=1000))
    assert os.getcwd() == tempfile.gettempdir() and len(out.getvalue().splitlines()) == 1


@pytest.mark.slow
def test_a_service_answers_before_its_workers_and_its_course_are_there_and_ends_at_a_signal(tmp_path):
    """Also where its working directory is closed to it, as one that it has from the Hub may be."""
    gone, number = tmp_path / "gone", free_port()
    gone.mkdir()
    held = os.open(gone, os.O_RDONLY)
    gone.rmdir()
    process = serve(None, tmp_path / "course", env=of_a_service(number), preexec_fn=lambda: os.fchdir(held))
    os.close(held)
    try:
        seen, end = [], time.monotonic() + 150
        while "waiting\n" not in seen and time.monotonic() < end and process.poll() is None:
            try:
                status, said = get(number, f"{PREFIX}health")
            except ConnectionRefusedError:  # Python itself is starting
                time.sleep(0.05)
                continue
            assert status == 200
            seen += [said] * (said not in seen)
            time.sleep(0.05)
        assert seen[0] == port.STARTING and seen[-1] == "waiting\n", (seen, process.poll())
        process.send_signal(signal.SIGTERM)
        log, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert log.count("the working directory cannot be entered (No such file or directory)") == 1
    assert log.count("! waiting for a course: ") == 1 and "Traceback" not in log


def test_a_service_whose_workers_do_not_start_tries_again(monkeypatch, tmp_path):
    out, tried, shown = io.StringIO(), [], []

    class Stop(Exception):
        """Ends the loop, as a signal would."""

    def start(options, console, interrupt, status):
        tried.append(status.status()["error"])
        if len(tried) == 3:
            raise Stop
        raise PoolError("no sandbox\nwith details")

    monkeypatch.setattr(command, "_run", start)
    monkeypatch.setattr(command, "RETRY_S", 0.0)
    monkeypatch.setattr(port.ServicePort, "show", lambda self, application: shown.append(application))
    monkeypatch.chdir(tmp_path)
    for name, value in of_a_service(free_port()).items():
        monkeypatch.setenv(name, value)
    options = command.ServeOptions((tmp_path,))
    with pytest.raises(Stop):
        command.serve(options, Console(file=out, width=1000), port.open_for_hub())
    assert tried == ["", "no sandbox", "no sandbox"] and len(shown) == 1
    assert out.getvalue().splitlines() == ["! not started, tried again: no sandbox"] * 2
    with pytest.raises(PoolError):  # in a terminal, somebody reads it
        command.serve(options, Console(quiet=True))


ANSWER = """import sys; from multiprocessing.connection import Connection
channel = Connection(int(sys.argv[1])); number, *_ = [channel.recv_bytes() for _ in range(3)]
channel.send_bytes(number + {!r})"""
WORKERS = {  # what the process of a worker does → the reason that is given
    "raise SystemExit(3)": "the grading process ended with 3",
    ANSWER.format(rb'e["", "ImportError: no torch\nat all"]'): "ImportError: no torch",
    ANSWER.format(b'e["SandboxError", "no sandbox works here"]'): "no sandbox works here",
}


@pytest.mark.parametrize("program", WORKERS, ids=WORKERS.values())
def test_workers_that_cannot_start_are_one_line_in_a_terminal(program, monkeypatch, tmp_path, capsys):
    pool = SimpleNamespace(client=SimpleNamespace(run=lambda call: call()))
    monkeypatch.setattr(command, "_pool", lambda *_: nullcontext(pool))
    monkeypatch.setattr(grading_process, "COMMAND", (sys.executable, "-c", program))
    monkeypatch.setattr(
        grading_process, "_own", grading_process.GradingProcess()
    )  # the last case's may still be ending
    with pytest.raises(SystemExit) as end:
        main(["serve", str(tmp_path)])
    said = f"the workers cannot start: {WORKERS[program]}: run `autograder doctor` on their machine"
    assert end.value.code == 2 and capsys.readouterr().err == f"autograder: {said}\n"


def test_a_wait_ends_at_a_signal():
    with Interrupt() as interrupt, pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
        command._wait(60.0, interrupt)
