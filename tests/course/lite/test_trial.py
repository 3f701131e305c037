"""The torch of a tab, here in CPython: right answers pass its checks, wrong ones do not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.exercises import registry
from course.lite import site, trial

SAMPLE = ("masks.causal", "attention.scaled_dot_product", "positions.rotary", "objectives.causal_lm")
KILLS = 0.95
ROOT = Path(__file__).parents[3]
FIGURES = re.compile(
    r"of (?P<all>\d+) exercises (?P<there>\d+) can be checked.*?(?P<share>[\d.]+) % of [\d,]+ wrong", re.S
)


def caught(found):
    asked = sum(one["wrong"] for one in found)
    return 1 - sum(len(one["missed"]) for one in found) / asked, asked


def test_a_sample_passes_where_it_is_right_and_fails_where_it_is_wrong():
    found = trial.trials(SAMPLE, every=3)
    assert [one["exercise"] for one in found] == [one.id for one in registry.exercises() if one.id in SAMPLE]
    assert not [one for one in found if one["refused"] or one["lacks"]]
    share, asked = caught(found)
    assert share >= KILLS and asked >= 12


def test_the_views_of_the_lessons_can_be_imported_with_the_torch_of_a_tab():
    call = [sys.executable, "-c", "import torch, tfkit_lab.show, tfkit_lab.predict, tfkit.nn; print(torch.PRACTICE)"]
    with trial.browser_torch() as folder:
        done = subprocess.run(call, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": folder})
    assert done.stdout.strip() == "torch in the browser", done.stderr


WRONG_IN_A_TAB = """
import threading, time
def refuse(thread):
    raise RuntimeError("can't start new thread")
del time.thread_time  # which the Python of a tab lacks, as it lacks threads
threading.Thread.start = refuse
def has_none(thread):
    raise FileNotFoundError(44, "No such file or directory")
time.pthread_getcpuclockid = has_none
import torch
from autograder.grade.practice import practice_verdict
source = "def causal_mask(length): return torch.ones(length, length, dtype=torch.bool)"
exec(source, names := {"torch": torch})
found = practice_verdict("masks.causal", ["import torch", source], names)
print(found["status"], found["misconception"] or found["checks"])
"""


def test_a_wrong_answer_is_explained_in_a_tab_whose_python_has_no_threads():
    with trial.browser_torch() as folder:
        environment = os.environ | {"PYTHONPATH": folder}
        done = subprocess.run([sys.executable, "-c", WRONG_IN_A_TAB], capture_output=True, text=True, env=environment)
    assert done.stdout.split() == ["failed", "nothing_hidden"] and "Traceback" not in done.stderr, done.stderr[-2000:]


OPTIMIZER_STATE = """
import torch
weight = torch.nn.Parameter(torch.tensor([0.5, -1.0, 2.0]))
optimizer = torch.optim.AdamW([weight], lr=0.1)
moments = {"exp_avg": torch.tensor([0.1, 0.2, 0.3]), "exp_avg_sq": torch.tensor([0.04, 0.05, 0.06])}
optimizer.state[weight] = {"step": torch.tensor(2.0), **moments}
for _ in range(2):
    weight.grad = torch.tensor([1.0, -2.0, 0.5])
    optimizer.step()
    optimizer.state[weight]["exp_avg"] *= 0.5
state = optimizer.state[weight]
print(*weight.tolist(), *(x for name in ("exp_avg", "exp_avg_sq") for x in state[name].tolist()), float(state["step"]))
"""


def test_an_optimizers_state_is_set_and_read_by_parameter_in_a_tab_too():
    def run(**more):
        call = [sys.executable, "-c", OPTIMIZER_STATE]
        done = subprocess.run(call, capture_output=True, text=True, env=os.environ | more, check=False)
        assert done.returncode == 0, done.stderr
        return [float(x) for x in done.stdout.split()]

    with trial.browser_torch() as folder:
        assert run(PYTHONPATH=folder) == pytest.approx(run(), rel=1e-6)


def test_what_needs_the_lab_is_an_exercise_with_a_reason():
    listed = site.needs_lab()
    assert set(listed) <= {one.id for one in registry.exercises()} and all(listed.values())


def test_a_trial_of_what_is_no_exercise_says_nothing_of_it():
    assert trial.trials(["no.such"]) == []


def test_what_a_failed_import_leaves_behind_helps_no_later_exercise(monkeypatch):
    def checks():
        sys.modules["tfkit.left_behind"] = sys
        raise ModuleNotFoundError("no package", name="absent_package")

    monkeypatch.setattr(registry, "check_function", lambda exercise: checks)
    found = trial._trial(registry.find("masks.causal"), 1)
    assert "absent_package" in found["lacks"] and "tfkit.left_behind" not in sys.modules


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_every_exercise_is_checked_there_or_needs_the_lab():
    found = trial.trials()
    assert {one["exercise"] for one in found} == {one.id for one in registry.exercises()}
    needed = {one["exercise"] for one in found if trial.full_lab_reason(one)}
    assert needed == set(site.needs_lab()), "python -m course.lite.trial --write"
    there = [one for one in found if one["exercise"] not in needed]
    share, asked = caught(there)
    assert share >= KILLS, json.dumps([(one["exercise"], one["missed"]) for one in there if one["missed"]])
    assert asked > 800 and len(there) >= 85
    told, made = (FIGURES.search(text) for text in ((ROOT / "docs/lite.md").read_text(), trial.summary(found)))
    assert told.group("all", "there") == made.group("all", "there"), made[0]
    assert float(told["share"]) == pytest.approx(float(made["share"]), abs=0.5), made[0]


def test_a_summary_counts_only_what_can_be_checked():
    one = {"exercise": "a", "lacks": "", "refused": [], "right": 1, "wrong": 40, "missed": ["x"], "left": []}
    found = trial.summary([one, one | {"lacks": "it has no masks", "wrong": 0, "missed": []}])
    assert FIGURES.search(found).groupdict() == {"all": "2", "there": "1", "share": "97.5"}
    assert "no wrong one was asked" in trial.summary([])
