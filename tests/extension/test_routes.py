"""The server's routes: what they answer, what they refuse, and that nothing of a check stays behind."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from tornado.httpclient import HTTPClientError

import tfkit_lab
from autograder import sandbox
from autograder.checking import client, fork
from autograder.checking import notebook as in_kernel
from autograder.checking import processes as warm
from autograder.sandbox import NO_SANDBOX
from course.build import build
from tfkit_course import install
from tfkit_lab import check as engine
from tfkit_lab import course, handlers, sealed

EXERCISE = "masks.causal"
GOLDEN = Path(__file__).parent / "golden"
CELLS = [{"source": "def causal_mask(): ...", "role": "exercise", "exercise": EXERCISE}]


@pytest.fixture(autouse=True)
def prepared(monkeypatch):
    """How often a lab with a course made ready for a check; no process is started for it."""
    calls = []
    for kind in (warm.WarmProcesses, fork.ForkServer):
        monkeypatch.setattr(kind, "prepare", lambda self: calls.append(self))
    return calls


@pytest.fixture
def grader(monkeypatch, tmp_path):
    """Puts a script in the autograder's place: what is tested here is the way there and back."""
    processes = warm.WarmProcesses(own_group=True)
    monkeypatch.setattr(engine._client, "processes", processes)

    def install(body: str) -> None:
        script = tmp_path / "grader.py"
        heading = "import json, os, sys, time, pathlib\nexercise, file, _, *known = json.loads(input())\n"
        script.write_text(heading + textwrap.dedent(body))
        monkeypatch.setattr(warm, "COMMAND", (sys.executable, str(script)))

    yield install
    processes.close()


VERDICT = """
cells = json.loads(pathlib.Path(file).read_text())["cells"]
print("a library's warning")
print(json.dumps({"exercise": exercise, "status": "failed", "score": 0, "max_score": 1, "file": file,
                  "checks": [], "misconception": "no_diagonal", "seen": cells, "known": known}))
sys.exit(1)
"""


def post(jp_fetch, body):
    return jp_fetch("tfkit", "check", method="POST", body=body if isinstance(body, str) else json.dumps(body))


async def test_a_check_answers_with_the_verdict_and_keeps_it(jp_fetch, jp_root_dir, grader):
    grader(VERDICT)
    answer = json.loads((await post(jp_fetch, {"exercise": EXERCISE, "cells": CELLS})).body)
    assert answer["status"] == "failed" and answer["file"] == ""
    assert answer["seen"][0]["metadata"]["tfkit"] == {"role": "exercise", "exercise": EXERCISE}
    assert course.read_progress(jp_root_dir)[EXERCISE]["misconception"] == "no_diagonal"


@pytest.mark.parametrize(("path", "finds"), [("unit/n.ipynb", True), ("n.ipynb", False), ("../unit/n.ipynb", False)])
async def test_a_check_is_told_of_the_misconceptions_beside_the_notebook(jp_fetch, jp_root_dir, grader, path, finds):
    for folder in (jp_root_dir / "unit", jp_root_dir.parent / "unit"):  # the second is not below the root
        folder.mkdir()
        (folder / "misconceptions.toml").touch()
    grader(VERDICT)
    answer = json.loads((await post(jp_fetch, {"exercise": EXERCISE, "path": path, "cells": CELLS})).body)
    assert answer["known"] == (["--known", str(jp_root_dir / "unit")] if finds else [])


@pytest.mark.parametrize(
    "body, words",
    [
        ("{", "not JSON"),
        ([], "must be an object"),
        ({"exercise": "--help", "cells": []}, "exercise's id"),
        ({"exercise": "masks.causal\n", "cells": []}, "exercise's id"),
        ({"exercise": EXERCISE, "cells": 3}, "must be a list"),
        ({"exercise": EXERCISE, "cells": [3]}, r"cells\[0\]"),
        ({"exercise": EXERCISE, "cells": [{"source": "", "role": 3}]}, "must be texts"),
        ({"exercise": EXERCISE, "cells": [{"source": "x" * (engine.MAX_SOURCE + 1)}]}, "the limit is"),
    ],
)
async def test_what_makes_no_sense_is_a_400_with_words(jp_fetch, body, words):
    with pytest.raises(HTTPClientError) as caught:
        await post(jp_fetch, body)
    assert caught.value.code == 400
    assert re.search(words, json.loads(caught.value.response.body)["message"])


async def test_a_grader_that_breaks_is_told_in_its_own_words(jp_fetch, jp_root_dir, grader):
    grader("sys.exit('autograder: no exercise named masks.causal')")
    with pytest.raises(HTTPClientError) as caught:
        await post(jp_fetch, {"exercise": EXERCISE, "cells": CELLS})
    assert caught.value.code == 500
    assert json.loads(caught.value.response.body)["message"] == "autograder: no exercise named masks.causal"
    assert not (jp_root_dir / course.PROGRESS).exists()


@pytest.mark.parametrize(
    "said, words",
    [
        ("ModuleNotFoundError: No module named 'torch'", re.escape(install())),
        (
            f"autograder: {NO_SANDBOX} (bwrap is not installed): install bubblewrap (--trust)",
            r"run the cell with check\(",
        ),
        ("", "no verdict and no reason"),
    ],
)
async def test_a_student_is_told_what_to_do_where_nothing_can_be_checked(jp_fetch, grader, said, words):
    grader(f"sys.exit({said!r})")
    with pytest.raises(HTTPClientError) as caught:
        await post(jp_fetch, {"exercise": EXERCISE, "cells": CELLS})
    assert re.search(words, json.loads(caught.value.response.body)["message"])


def test_the_lack_of_a_sandbox_is_known_by_the_words_in_which_it_is_told(monkeypatch):
    monkeypatch.setattr(sandbox, "_chosen", {})
    monkeypatch.setattr(sandbox, "backends", list)
    monkeypatch.setattr(sandbox, "SYSTEM", "linux")
    with pytest.raises(sandbox.SandboxError, match=NO_SANDBOX):
        sandbox.choose()


async def test_the_server_answers_while_a_check_runs_and_a_hang_up_ends_it(
    jp_fetch, jp_base_url, jp_http_port, jp_auth_header, grader, tmp_path
):
    pid = tmp_path / "pid"
    grader(f"pathlib.Path({str(pid)!r}).write_text(str(os.getpid())); time.sleep(600)")
    body = json.dumps({"exercise": EXERCISE, "cells": CELLS})
    sent = {"Host": "127.0.0.1", "Content-Length": str(len(body)), **jp_auth_header}
    lines = [f"POST {jp_base_url}tfkit/check HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", body]
    _, browser = await asyncio.open_connection("127.0.0.1", jp_http_port)
    browser.write("\r\n".join(lines).encode())
    await until(lambda: pid.exists() and pid.read_text(), "the check to begin")
    assert json.loads((await jp_fetch("tfkit", "course")).body)["units"] == []
    assert alive(int(pid.read_text()))
    browser.close()  # as when a tab is closed
    await until(lambda: not alive(int(pid.read_text())), "the check to end, as the browser has hung up")


async def until(holds, what, seconds=120):
    """Wait for what an idle machine does at once."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        await asyncio.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_case_is_written_as_a_cell_that_runs_or_not_at_all():
    found = {"call": "Layer(4, 2)", "inputs": {"x": [[1.0, -2.0]], "mask": [[True]], "n": 3, "bias": None}}
    code = engine.drawing(found)
    assert "x=torch.tensor([[1.0, -2.0]]),\n    mask=torch.tensor([[True]]),\n    n=3,\n    bias=None," in code
    seen = {}
    case = "show.case = lambda call, **inputs: seen.update(call=call, **inputs)"
    exec(code.replace("from tfkit_lab import show", f"class show: pass\n{case}"), {"Layer": lambda *s: s, "seen": seen})
    assert seen["call"] == (4, 2) and seen["x"].tolist() == [[1.0, -2.0]] and seen["x"].is_floating_point()
    for call in ("f.step(x)", "f('x')", '__import__("os")', "f; g", "f\ng"):
        assert engine.drawing({**found, "call": call}) is None
    for inputs in ({}, {"x": ["a"]}, {"x": {}}, {"x[0]": 1}, {"x": float("nan")}, {"x": [1.0] * 2000}, None):
        assert engine.drawing({"call": "f", "inputs": inputs}) is None
    assert engine.drawing(None) is None


async def test_a_check_that_hangs_is_stopped(jp_fetch, grader, monkeypatch):
    monkeypatch.setattr(client, "SECONDS", 0.5)
    grader("time.sleep(60)")
    with pytest.raises(HTTPClientError) as caught:
        await post(jp_fetch, {"exercise": EXERCISE, "cells": CELLS})
    assert "no verdict on masks.causal after 0.5 s" in json.loads(caught.value.response.body)["message"]


@pytest.mark.parametrize("route", ["course", "check"])
async def test_strangers_are_turned_away(jp_fetch, route):
    with pytest.raises(HTTPClientError) as caught:
        await jp_fetch("tfkit", route, method="GET", headers={"Authorization": "token wrong"})
    assert caught.value.code in (403, 405)


def notebook(path, *exercises, title="Masks"):
    cells = [nbformat.v4.new_markdown_cell(f"# {title}\nWhy.")]
    for exercise, heading in exercises:
        cells.append(nbformat.v4.new_markdown_cell(f"## {heading}"))
        for role in ("exercise", "check"):
            cell = nbformat.v4.new_code_cell("pass")
            cell.metadata["tfkit"] = {"role": role, "exercise": exercise}
            cells.append(cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)


async def test_a_lab_with_a_course_makes_ready_for_the_first_check(jp_fetch, jp_root_dir, prepared):
    await jp_fetch("tfkit", "course")
    assert not prepared
    notebook(jp_root_dir / "02-masks" / "02-masks.ipynb", (EXERCISE, "The future"))
    await jp_fetch("tfkit", "course")
    await until(lambda: prepared, "the first check to be made ready")  # the answer does not wait for it
    assert prepared == [engine._client.processes]


async def test_a_server_in_a_courses_folder_makes_ready_while_it_starts(jp_serverapp, jp_root_dir, prepared):
    tfkit_lab._link_jupyter_server_extension(jp_serverapp)
    await asyncio.sleep(0.2)
    assert not prepared
    notebook(jp_root_dir / "02-masks" / "02-masks.ipynb", (EXERCISE, "The future"))
    tfkit_lab._link_jupyter_server_extension(jp_serverapp)
    await until(lambda: prepared, "the first check to be made ready")


async def test_the_course_lists_units_exercises_and_states(jp_fetch, jp_root_dir):
    notebook(jp_root_dir / "02-masks" / "02-masks.ipynb", (EXERCISE, "The future"), ("masks.padding", "Padding"))
    notebook(jp_root_dir / "01-start" / "01.ipynb", ("rnn.cell", "A cell"), title="Start")
    notebook(jp_root_dir / "plain.ipynb")
    (jp_root_dir / "broken.ipynb").write_text("{")
    course.record(jp_root_dir, {"exercise": EXERCISE, "status": "passed", "score": 2, "max_score": 2})
    units = json.loads((await jp_fetch("tfkit", "course")).body)["units"]
    assert [unit["title"] for unit in units] == ["Start", "Masks"]
    assert units[1]["path"] == "02-masks/02-masks.ipynb"
    states = {e["id"]: (e["title"], e["state"], e["score"]) for e in units[1]["exercises"]}
    assert states == {EXERCISE: ("The future", "passed", 2), "masks.padding": ("Padding", "not_started", 0)}


def test_checking_the_released_stub_is_no_attempt(tmp_path):
    notebook(tmp_path / "02-masks" / "02-masks.ipynb", (EXERCISE, "The future"))
    stub = {"exercise": EXERCISE, "status": "failed", "score": 0, "max_score": 2}
    course.record(tmp_path, {**stub, "checks": [{"name": "written", "status": "failed"}]})
    assert [e["state"] for unit in course.units(tmp_path) for e in unit["exercises"]] == ["not_started"]
    course.record(tmp_path, {**stub, "checks": [{"name": "values", "status": "failed"}]})
    assert [e["state"] for unit in course.units(tmp_path) for e in unit["exercises"]] == ["failed"]


def test_trying_out_a_mistake_after_passing_takes_nothing_away(tmp_path):
    notebook(tmp_path / "02-masks" / "02-masks.ipynb", (EXERCISE, "The future"))
    found = {"exercise": EXERCISE, "max_score": 2, "checks": [{"name": "values", "status": "failed"}]}

    def state():
        (exercise,) = course.units(tmp_path)[0]["exercises"]
        return exercise["state"], exercise["score"], exercise["last"]

    course.record(tmp_path, found | {"status": "failed", "score": 1.5})
    course.record(tmp_path, found | {"status": "failed", "score": 0.5})
    assert state() == ("failed", 1.5, "failed")  # the best counts, the last is shown
    course.record(tmp_path, found | {"status": "passed", "score": 2})
    assert state() == ("passed", 2, None)
    for status in ("failed", "not_graded", "failed"):
        course.record(tmp_path, found | {"status": status, "score": 0})
        assert state() == ("passed", 2, status)
    stub = [{"name": "written", "status": "failed"}]
    course.record(tmp_path, found | {"status": "failed", "score": 0, "checks": stub})  # the notebook fetched again
    assert state() == ("passed", 2, "failed")
    course.record(tmp_path, found | {"status": "passed", "score": 2})
    assert state() == ("passed", 2, None)


async def test_a_check_in_the_kernel_counts_as_the_button_does(jp_fetch, jp_root_dir):
    notebook(jp_root_dir / "02-masks" / "02-masks.ipynb", (EXERCISE, "The future"))
    found = {"exercise": EXERCISE, "status": "passed", "score": 2.0, "max_score": 2.0, "misconception": None}
    outcome = in_kernel.bundle({**found, "checks": [], "sandbox": "bubblewrap"})[in_kernel.MIME]
    assert outcome == found
    await jp_fetch("tfkit", "progress", method="POST", body=json.dumps(outcome))
    (unit,) = json.loads((await jp_fetch("tfkit", "course")).body)["units"]
    assert [(e["state"], e["score"]) for e in unit["exercises"]] == [("passed", 2.0)]


@pytest.mark.parametrize(
    "more",
    [{"exercise": "../x"}, {"status": "won"}, {"score": -1}, {"score": True}, {"max_score": "2"}, {"misconception": 3}],
)
async def test_an_outcome_that_is_none_is_refused(jp_fetch, jp_root_dir, more):
    body = {"exercise": EXERCISE, "status": "passed", "score": 1, "max_score": 1} | more
    with pytest.raises(HTTPClientError) as caught:
        await jp_fetch("tfkit", "progress", method="POST", body=json.dumps(body))
    assert caught.value.code == 400 and not (jp_root_dir / course.PROGRESS).exists()


def test_exercises_below_one_heading_are_told_apart(tmp_path):
    notebook(tmp_path / "02.ipynb", ("masks.causal", "One"), ("masks.full_rows", "One"), ("masks.all", "Two"))
    (unit,) = course.units(tmp_path)
    assert [one["title"] for one in unit["exercises"]] == ["One (causal)", "One (full rows)", "Two"]


def test_exercises_are_called_as_their_verdicts_are(tmp_path):
    """By the titles that the build has written, a lost one too; by the heading above, where there are none."""
    path = tmp_path / "02-masks.ipynb"
    notebook(path, (EXERCISE, "1 · The future"), ("masks.decoder", "3 · Both"))
    found = nbformat.read(path, as_version=4)
    titles = {EXERCISE: "Causal mask", "masks.padding": "Padding mask", "masks.decoder": 7}
    found.metadata["tfkit"] = {"exercises": [EXERCISE, "masks.padding", "masks.decoder"], "titles": titles}
    nbformat.write(found, path)
    (unit,) = course.units(tmp_path)
    assert [one["title"] for one in unit["exercises"]] == ["Causal mask", "Padding mask", "3 · Both"]


def test_what_a_notebook_lost_still_counts(tmp_path):
    path = tmp_path / "02-masks.ipynb"
    notebook(path, (EXERCISE, "The future"))
    found = nbformat.read(path, as_version=4)
    found.metadata["tfkit"] = {"unit": "02-masks", "exercises": ["masks.padding", EXERCISE, 7]}
    nbformat.write(found, path)
    (unit,) = course.units(tmp_path)
    listed = [(e["id"], e["title"], e["lost"]) for e in unit["exercises"]]
    assert listed == [("masks.padding", "masks.padding", True), (EXERCISE, "The future", False)]


@pytest.mark.parametrize(
    "said, due",
    [
        ("2026-10-12T18:00:00+02:00", "2026-10-12T18:00:00+02:00"),
        ("2026-10-12T18:00:00", None),  # nobody knows when that is
        ("soon", None),
        (7, None),
    ],
)
def test_the_course_tells_when_a_unit_is_due(tmp_path, said, due):
    path = tmp_path / "02-masks.ipynb"
    notebook(path, (EXERCISE, "The future"))
    found = nbformat.read(path, as_version=4)
    found.metadata["tfkit"] = {"unit": "02-masks", "due": said}
    nbformat.write(found, path)
    assert [unit["due"] for unit in course.units(tmp_path)] == [due]


def test_the_course_tells_what_the_home_page_shows(tmp_path):
    """Of a unit as the course builds it: its name, what it asks, minutes, points, and the words of its glossary."""
    build(tmp_path, ["02-masks"])
    course.record(tmp_path, {"exercise": EXERCISE, "status": "passed", "score": 1, "max_score": 1})
    (unit,) = course.units(tmp_path)
    assert (unit["name"], unit["title"], unit["minutes"]) == ("02-masks", "02 · Masks", 75)
    assert [name for name, *_ in unit["tracks"]] == ["core", "today", "zoo", "inside", "fast"], "as in course.toml"
    assert unit["tracks"][0] == ["core", "Core", 5], "with the number of its units"
    assert unit["about"].startswith("Attention lets every position look at every other.") and "*" not in unit["about"]
    assert {e["id"]: e["points"] for e in unit["exercises"]}["masks.softmax"] == 2
    assert [e["at"] is not None for e in unit["exercises"]] == [True, False, False, False]
    words = {term["word"]: term["means"] for term in unit["terms"]}
    assert words["causal"] == "Of a mask: no position may attend to a later one."
    assert "attention" not in words  # that is of unit 01


async def test_a_unit_without_exercises_is_listed_as_the_project_that_it_is(jp_fetch, jp_root_dir):
    build(jp_root_dir, ["17-capstone"])
    (jp_root_dir / "autograded").mkdir()
    measured = {"listed": True, "called": "Ada", "bits": 0.674, "floor": 0.57, "excess": 0.104, "seconds": 118}
    (jp_root_dir / "capstone.json").write_text(json.dumps({"17-capstone": {"ada": measured}}))
    (unit,) = json.loads((await jp_fetch("tfkit", "course")).body)["units"]
    assert (unit["title"], unit["exercises"]) == ("17 · Your own language model", [])
    assert unit["project"] == {"cell": "project-language-model", "points": 10}
    assert [(row["called"], row["excess"]) for row in unit["leaderboard"]["rows"]] == [("Ada", 0.104)]


@pytest.mark.parametrize("minutes", [-5, "long", True, None, float("nan"), float("inf")])
def test_a_notebook_that_tells_nothing_of_use_is_still_a_unit(tmp_path, minutes):
    path = tmp_path / "mine.ipynb"
    notebook(path, (EXERCISE, "The future"))
    found = nbformat.read(path, as_version=4)
    found.metadata["tfkit"] = {
        "unit": 3,
        "minutes": minutes,
        "tracks": [["core", 3], "core", ["core", "Core"], ["core", "Core", True]],
    }
    nbformat.write(found, path)
    (unit,) = course.units(tmp_path)
    assert (unit["name"], unit["minutes"], unit["terms"], unit["about"]) == ("mine", None, [], "")
    assert unit["tracks"] == []
    assert [e["points"] for e in unit["exercises"]] == [None]


def test_copies_in_an_instructors_folder_are_not_units(tmp_path):
    for folder in ("source", "release", "submitted/alice", "autograded/alice"):
        notebook(tmp_path / folder / "02-masks" / "02-masks.ipynb", (EXERCISE, "The future"))
    assert [unit["path"] for unit in course.units(tmp_path)] == ["source/02-masks/02-masks.ipynb"]


def test_a_course_directory_counts_each_unit_once_whatever_else_is_in_it(tmp_path):
    root = tmp_path / "nested" / "course"
    for folder in ("source", "release", "homes/ada", "student", "submitted/ada", "autograded/ada", "exchange/inbound"):
        notebook(root / folder / "02-masks" / "02-masks.ipynb", (EXERCISE, "The future"))
    (root / "nbgrader_config.py").touch()
    for opened in (root, tmp_path):
        (unit,) = course.units(opened)
        assert unit["path"].endswith("source/02-masks/02-masks.ipynb") and len(unit["exercises"]) == 1


def passed(exercise):
    return {"exercise": exercise, "status": "passed", "score": 1, "max_score": 1}


def test_outcomes_that_arrive_together_are_all_kept(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    monkeypatch.setenv(sealed.FOLDER, str(shared))
    exercises = {f"unit.number_{index}" for index in range(8)}
    with ThreadPoolExecutor(len(exercises)) as threads:
        list(threads.map(lambda one: course.record(tmp_path, passed(one)), exercises))
    assert set(course.read_progress(tmp_path)) == exercises
    (copy,) = shared.iterdir()  # one token for all of them, and the last copy is complete
    assert set(json.loads(copy.read_text(encoding="utf-8"))["exercises"]) == exercises


@pytest.mark.skipif(sys.platform == "win32", reason="files are locked with fcntl, which Windows does not have")
def test_servers_that_share_a_folder_take_turns(tmp_path):
    import fcntl

    course.record(tmp_path, passed("unit.before"))
    with ThreadPoolExecutor(1) as threads, (tmp_path / course.LOCK).open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # as another server does while it writes
        waiting = threads.submit(course.record, tmp_path, passed("unit.after"))
        time.sleep(0.2)
        assert set(course.read_progress(tmp_path)) == {"unit.before"}
        fcntl.flock(held, fcntl.LOCK_UN)
        waiting.result(10)
    assert set(course.read_progress(tmp_path)) == {"unit.before", "unit.after"}


def test_a_folder_whose_files_cannot_be_locked_keeps_outcomes(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl", reason="files are locked with fcntl, which Windows does not have")

    def refuse(*_):
        raise OSError("No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)  # as on some network file systems
    course.record(tmp_path, passed(EXERCISE))
    assert EXERCISE in course.read_progress(tmp_path)


def test_damaged_progress_is_no_progress(tmp_path):
    (tmp_path / ".tfkit").mkdir()
    (tmp_path / course.PROGRESS).write_text('{"exercises": [1, 2]}')
    assert course.read_progress(tmp_path) == {}
    course.record(tmp_path, {"exercise": EXERCISE, "status": "failed", "score": 0, "max_score": 1})
    assert course.read_progress(tmp_path)[EXERCISE]["status"] == "failed"


def test_the_server_side_loads_neither_torch_nor_widgets():
    code = "import sys, tfkit_lab.handlers; sys.exit(any(m in sys.modules for m in ('torch', 'ipywidgets', 'tfkit')))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


async def test_the_family_is_told_without_building_anyone(jp_fetch):
    models = {m["name"]: m for m in json.loads((await jp_fetch("tfkit", "family")).body)["models"]}
    assert models["roberta"]["parent"] == "bert" and models["transformer"]["differs"]
    assert all(m["parent"] is None or m["parent"] in models for m in models.values())


async def test_two_models_are_taken_apart_in_another_process(jp_fetch):
    answer = await jp_fetch("tfkit", "anatomy", "bert", "roberta", request_timeout=120)
    trace = json.loads(answer.body)
    assert trace["kind"] == "anatomy" and [t["class"] for t in trace["trees"]] == ["BERT", "RoBERTa"]
    with pytest.raises(HTTPClientError) as caught:
        await jp_fetch("tfkit", "anatomy", "nobody")
    assert caught.value.code == 400 and "no architecture 'nobody'" in caught.value.response.body.decode()


async def test_a_view_is_saved_as_a_page_of_its_own(jp_fetch):
    trace = json.loads((GOLDEN / "greedy.json").read_text(encoding="utf-8"))
    body = json.dumps({"title": "A <run>", "state": {"trace": trace, "step": 2}})
    page = json.loads((await jp_fetch("tfkit", "page", method="POST", body=body)).body)["html"]
    assert page.startswith("<!doctype html>") and "A &lt;run&gt;" in page and '"step": 2' in page
    assert '<html lang="en">' in page


@pytest.mark.parametrize("language", ["fr", "fr-FR", "fr_FR"])
async def test_a_page_of_its_own_speaks_the_labs_language(jp_fetch, language):
    """A view in a page has no translator, so the page brings the words of its view; an unknown language is English."""
    trace = json.loads((GOLDEN / "greedy.json").read_text(encoding="utf-8"))
    asked = {"title": "A run", "state": {"trace": trace}}
    for wanted, found in ((language, "fr"), ("xx", "en"), ("../fr_FR", "en")):
        body = json.dumps({**asked, "language": wanted})
        page = json.loads((await jp_fetch("tfkit", "page", method="POST", body=body)).body)["html"]
        words = json.loads(re.findall(r"const words = (.*);\n", page)[0])
        assert f'<html lang="{found}">' in page and (words.get("Next token") == "Token suivant") == (found == "fr")
        assert "Stages" not in words  # what only other scripts say stays out


@pytest.mark.parametrize(
    "body", ["", "[]", '{"title": "", "state": {}}', '{"title": "", "state": {"trace": {"kind": "../decoding"}}}',
             '{"title": "", "state": {"trace": {"kind": "nobodys"}}}'],
)  # fmt: skip
async def test_what_is_no_view_of_ours_is_refused(jp_fetch, body):
    with pytest.raises(HTTPClientError) as caught:
        await jp_fetch("tfkit", "page", method="POST", body=body)
    assert caught.value.code == 400


def test_the_french_catalogue_is_found_as_jupyterlab_looks_for_it(tmp_path):
    """By the entry point that `pyproject.toml` names; here in a package made for the test."""
    info = tmp_path / "names-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: names\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[jupyterlab.locale]\ntfkit_lab = tfkit_lab\n")
    code = "from jupyterlab_server.translation_utils import get_installed_packages_locale as get;"
    code += "print(get('fr_FR')[0]['tfkit_lab']['Check'])"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "['Vérifier']", done.stderr


def test_a_body_nested_too_deeply_is_a_bad_request():
    """json gives up with a RecursionError, which is no ValueError: the server said 500."""
    with pytest.raises(engine.BadRequest, match="nested too deeply"):
        engine.parse(b"[" * 200_000)


@pytest.mark.parametrize("body", ["[" * 200_000, "[" + "0," * 1_000_001 + "0]"], ids=["nested", "large"])
@pytest.mark.parametrize("route", ["check", "progress", "page", "lesson", "regrade", "marking/mark"])
async def test_a_body_out_of_all_proportion_is_a_bad_request_of_every_route(jp_fetch, route, body):
    """Read into objects, it would take a hundred times its size in the memory of the server."""
    with pytest.raises(HTTPClientError) as caught:
        await jp_fetch("tfkit", route, method="POST", body=body)
    assert caught.value.code == 400


def test_checks_are_bounded_for_each_user(monkeypatch):
    monkeypatch.setattr(handlers, "MAX_RUNNING", 2)
    monkeypatch.setattr(handlers, "MAX_WAITING", 4)
    monkeypatch.setattr(handlers, "MAX_OF_ONE", 2)

    async def some():
        over = asyncio.Event()

        async def slow(exercise, cells, folder):
            await over.wait()
            return {}

        monkeypatch.setattr(handlers, "check", slow)
        queue = handlers.Queue()
        tasks = []
        for user in ("ann", "ann", "ben", "ben", "cleo"):
            assert queue.refusal(user) == ""
            tasks.append(asyncio.create_task(queue.check(user, "masks.causal", [])))
            await asyncio.sleep(0)
        said = [queue.refusal(user) for user in ("ann", "cleo")]
        tasks.append(asyncio.create_task(queue.check("cleo", "masks.causal", [])))
        await asyncio.sleep(0)
        said.append(queue.refusal("dora"))
        over.set()
        await asyncio.gather(*tasks)
        return said, queue

    said, queue = asyncio.run(some())
    assert said[0].startswith("2 checks of yours") and said[1] == "" and said[2].startswith("6 checks are running")
    assert queue.pending == 0 and not queue._of and queue.refusal("ann") == ""


async def test_when_too_many_checks_wait_the_next_is_told_to_come_again(jp_fetch, jp_serverapp, grader, monkeypatch):
    grader(VERDICT)
    queue = jp_serverapp.web_app.settings["tfkit_checks"]
    monkeypatch.setattr(queue, "pending", handlers.MAX_RUNNING + handlers.MAX_WAITING)
    with pytest.raises(HTTPClientError) as refused:
        await post(jp_fetch, {"exercise": EXERCISE, "cells": CELLS})
    assert refused.value.code == 429 and "running or waiting already" in refused.value.response.body.decode()
    monkeypatch.setattr(queue, "pending", handlers.MAX_RUNNING + handlers.MAX_WAITING - 1)
    assert (await post(jp_fetch, {"exercise": EXERCISE, "cells": CELLS})).code == 200


async def test_a_class_sees_its_predictions_without_names(jp_fetch, jp_root_dir, monkeypatch, tmp_path):
    monkeypatch.setenv("TFKIT_PREDICTIONS", str(tmp_path / "shared"))
    (tmp_path / "shared").mkdir()
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    sealed.seal(tmp_path, "03.attentions", [{"kind": "number", "label": "How many?"}], [3])
    (one,) = json.loads((await jp_fetch("tfkit", "predictions")).body)["predictions"]
    assert (one["by"][0]["student"], one["by"][0]["answers"]) == ("1", [3])
    (one,) = json.loads((await jp_fetch("tfkit", "predictions", params={"names": "1"})).body)["predictions"]
    assert one["by"][0]["student"] == "ada"


async def test_the_leaderboard_is_served_without_names(jp_fetch, jp_root_dir):
    for folder in ("source", "autograded"):
        (jp_root_dir / "my" / folder).mkdir(parents=True)
    row = {"bits": 0.7, "floor": 0.6, "excess": 0.1, "seconds": 118.0, "called": "The Parrot", "listed": True}
    (jp_root_dir / "my" / "capstone.json").write_text(json.dumps({"17-capstone": {"ada": row}}))
    body = (await jp_fetch("tfkit", "leaderboard")).body
    (board,) = json.loads(body)["leaderboards"]
    assert (board["rows"][0]["called"], board["course"]) == ("The Parrot", "my") and b"ada" not in body


async def test_the_course_counts_the_predictions_that_were_made(jp_fetch, jp_root_dir):
    notebook(jp_root_dir / "02-masks" / "02-masks.ipynb", (EXERCISE, "The future"))
    path = jp_root_dir / "02-masks" / "02-masks.ipynb"
    whole = json.loads(path.read_text())
    whole["metadata"]["tfkit"] = {**whole["metadata"].get("tfkit", {}), "predictions": ["02.a", "02.b", "02.c"]}
    path.write_text(json.dumps(whole))
    for name, answers in (("02.a", [3]), ("02.b", None)):
        sealed.seal(path.parent, name, [{"kind": "number", "label": "How many?"}], answers)
    (unit,) = json.loads((await jp_fetch("tfkit", "course")).body)["units"]
    assert unit["predictions"] == {"asked": 3, "made": 1}
