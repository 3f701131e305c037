"""The same answer gets the same verdict: points and words, however often and by whichever engine it is graded."""

import json
import os
import subprocess
import sys
import threading
from functools import cache

import pytest

from autograder.exercises.answers import answer
from autograder.grade import run
from autograder.sandbox import choose
from course import exercises

PADDING = next(one for one in exercises() if one.id == "masks.padding")
BY_ANOTHER_HAND = "def padding_mask(ids, pad_id):\n    return ids.eq(pad_id).unsqueeze(1).unsqueeze(1)\n"
UNKNOWN = "def padding_mask(ids, pad_id):\n    return (ids % 3 == pad_id % 2)[:, None, None, :]\n"
ANSWERS = {
    "right": answer(PADDING, "right/new_axes").read_text(),
    "slip": answer(PADDING, "wrong/padding_is_zero").read_text(),
    "concept": answer(PADDING, "wrong/hides_the_queries").read_text(),
    "by another hand": BY_ANOTHER_HAND,
    "unknown": UNKNOWN,
}


def graded(source):
    """Everything that a verdict says."""
    return run.grade_source(PADDING, source, backend=choose(), device="cpu").as_json()


@cache
def once(name):
    """What the verdict of one of ANSWERS says, graded in a calm process and kept for all tests."""
    return graded(ANSWERS[name])


@pytest.fixture
def busy():
    """Other work in the process, so that a search that ends by the clock would end elsewhere."""
    stop = threading.Event()

    def work():
        while not stop.is_set():
            sum(range(10_000))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield
    stop.set()
    thread.join()


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_graded_alike_again_and_while_the_machine_is_busy(name, request):
    calm = once(name)
    request.getfixturevalue("busy")
    assert graded(ANSWERS[name]) == calm


def test_the_points_are_those_of_the_rule():
    found = {name: once(name) for name in ANSWERS}
    assert [found[name]["score"] for name in ANSWERS] == [1.0, 0.7, 0.7, 0.7, 0.0]
    assert [found[name]["distance"] for name in ANSWERS] == [None, 1, 1, 1, None]


@pytest.mark.nightly
@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_is_graded_twenty_times_gets_one_verdict(name):
    assert len({json.dumps(graded(ANSWERS[name]), sort_keys=True) for _ in range(20)}) == 1


@pytest.mark.slow
def test_a_process_of_its_own_says_the_same(tmp_path):
    for name, source in ANSWERS.items():
        file = tmp_path / "answer.py"
        file.write_text(source)
        call = [sys.executable, "-m", "autograder", "check", PADDING.id, str(file), "--json", "--device", "cpu"]
        done = subprocess.run(call, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
        said = json.loads(done.stdout.splitlines()[-1])
        assert {**said, "file": ""} == json.loads(json.dumps(once(name))), name
