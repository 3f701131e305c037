"""The torch of a tab, here in CPython: right answers pass its checks, wrong ones do not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import registry
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
    done = subprocess.run(call, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(trial.SHIM)})
    assert done.stdout.strip() == "torch in the browser", done.stderr


def test_what_needs_the_lab_is_an_exercise_with_a_reason():
    listed = site.needs_lab()
    assert set(listed) <= {one.id for one in registry.exercises()} and all(listed.values())


def test_a_trial_of_what_is_no_exercise_says_nothing_of_it():
    assert trial.trials(["no.such"]) == []


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
