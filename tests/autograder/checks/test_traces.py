"""What a call leaves behind is seen by what follows from it, whatever a box says."""

import random
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy
import pytest
import torch

from autograder.checks import Case, afterwards, purity
from autograder.checks.compare import compare
from autograder.checks.local import LocalSubject
from autograder.checks.probe import examine
from autograder.checks.properties.purity import MATRIX, NOTHING, _expected, _traces
from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.grade.run import grade_source
from autograder.sandbox import choose
from autograder.sandbox.client import Cell, SandboxClient

PURE = "def twice(x):\n    return 2 * x\n"
MUTATES = "def twice(x):\n    return x.mul_(2).clone()\n"
DRAWS = "import torch\ndef twice(x):\n    torch.rand(1)\n    return 2 * x\n"
SEEDS = "import torch\ndef twice(x):\n    torch.manual_seed(1)\n    return 2 * x\n"
DTYPE = "import torch\ndef twice(x):\n    torch.set_default_dtype(torch.float64)\n    return 2 * x\n"
GRADIENTS = "import torch\ndef twice(x):\n    torch.set_grad_enabled(False)\n    return 2 * x\n"
STRICT = "import torch\ndef twice(x):\n    torch.use_deterministic_algorithms(True)\n    return 2 * x\n"
ANOMALIES = "import torch\ndef twice(x):\n    torch.autograd.set_detect_anomaly(True)\n    return 2 * x\n"
PYTHON = "import random\ndef twice(x):\n    random.random()\n    return 2 * x\n"
NUMPY = "import numpy\ndef twice(x):\n    numpy.random.seed(3)\n    return 2 * x\n"
THREADS = "import torch\ndef twice(x):\n    torch.set_num_threads(1)\n    return 2 * x\n"
SOFTMAX = "import torch\ntorch.softmax = lambda x, dim: x.exp()\ndef twice(x):\n    return 2 * x\n"
OWN_SOFTMAX = """
import torch
theirs = torch.softmax
torch.softmax = lambda *args, **kwargs: theirs(*args, **kwargs)
def twice(x):
    return 2 * x
"""
FORGED = """
import copy, gc, torch
for thing in gc.get_objects():
    if type(thing).__name__ == "Agent":
        was = {}
        def op_keep(values, keep=thing.op_keep):
            was.update({id(value): copy.deepcopy(value) for value in values})
            return keep(values)
        def op_call(target, args, kwargs, call=thing.op_call):  # says that nothing changed
            if target[0] == "given_kept":
                return [was.get(id(value), value) for value in args[0]]
            return call(target, args, kwargs)
        thing.op_keep, thing.op_call = op_keep, op_call
        break
torch.get_default_dtype, torch.is_grad_enabled = lambda: torch.float32, lambda: True
torch.are_deterministic_algorithms_enabled = torch.is_anomaly_enabled = lambda: False
"""


def local(source):
    namespace: dict = {"__name__": "student"}
    exec(compile(source, "student.py", "exec"), namespace)
    return LocalSubject(namespace)


def traces(subject):
    check = purity(lambda draw: [Case("twice", (draw.normal(3),))])
    state = torch.get_rng_state()
    finding = examine([check], subject, local(PURE), 1)[0]
    assert torch.equal(state, torch.get_rng_state())
    return finding.message


SETTING = "changes a global setting of torch ({})"
WANTED = {
    "pure": (PURE, ""),
    "mutates": (MUTATES, "changes its own input (the argument `x`)"),
    "draws": (DRAWS, "draws random numbers"),
    "seeds": (SEEDS, "draws random numbers"),
    "draws Python's": (PYTHON, "draws random numbers"),
    "seeds NumPy": (NUMPY, "draws random numbers"),
    "dtype": (DTYPE, SETTING.format("default dtype")),
    "gradients": (GRADIENTS, SETTING.format("grad mode")),
    "deterministic": (STRICT, SETTING.format("deterministic algorithms")),
    "anomalies": (ANOMALIES, SETTING.format("anomaly detection")),
    "threads": (THREADS, ""),  # nothing follows from it but time
}
BOXED = WANTED | {"softmax": (SOFTMAX, "replaces functions of torch"), "softmax wrapped": (OWN_SOFTMAX, "")}


@pytest.mark.parametrize("name", WANTED)
def test_what_our_own_answers_leave_behind(name):
    source, wanted = WANTED[name]
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    try:
        said = traces(local(source))
    finally:
        torch.set_num_threads(threads)
    assert wanted in said and bool(said) == bool(wanted)
    assert torch.get_default_dtype() == dtype and torch.is_grad_enabled()
    assert not torch.are_deterministic_algorithms_enabled() and not torch.is_anomaly_enabled()


@pytest.mark.parametrize("forged", ["", FORGED], ids=["honest", "forged"])
@pytest.mark.parametrize("name", BOXED)
def test_what_a_box_leaves_behind_whatever_it_says(name, forged):
    source, wanted = BOXED[name]
    with SandboxClient(choose()) as student:
        student.run_cells([Cell("answer", source + forged)])
        said = traces(student)
    assert wanted in said and bool(said) == bool(wanted)


def test_a_module_that_starts_from_zeros_leaves_no_trace():
    """The reference draws its first parameters while it is built, which is no trace of its call."""
    source = """
import torch
class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.by = torch.nn.Parameter(torch.{}(3))
    def forward(self, x):
        return x * self.by
"""
    check = purity(lambda draw: [draw.module("Scale", (), (draw.normal(2, 3),))])
    zeros, drawn = (local(source.format(way)) for way in ("zeros", "randn"))
    assert not examine([check], zeros, drawn, 1)[0].failed
    assert not examine([check], drawn, zeros, 1)[0].failed


def test_a_list_that_is_sorted_in_place_is_a_trace():
    subject = local("def total(numbers):\n    numbers.sort()\n    return sum(numbers)\n")
    check = purity(lambda draw: [Case("total", ([3, 1, 2],))])
    found = examine([check], subject, local("def total(numbers):\n    return sum(numbers)\n"), 1)[0]
    assert "changes its own input (the argument `numbers`)" in found.message


@contextmanager
def a_thread_that_draws():
    """As a Dask worker's event loop does, which estimates the size of what it sends by a random sample."""
    done = threading.Event()

    def draw():
        while not done.wait(1e-4):  # without a pause it would hold the interpreter for 5 ms at each call of torch
            random.random()
            numpy.random.rand()

    thread = threading.Thread(target=draw, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("name", ["attention.split_heads", "masks.causal", "attention.attend"])
def test_another_thread_that_draws_takes_no_marks_off_right_answers(name):
    exercise = registry.find(name)
    with a_thread_that_draws():
        for path in answers(exercise, "right"):
            verdict = grade_source(exercise, path.read_text(encoding="utf-8"), backend=choose())
            assert (path.stem, verdict.status, verdict.score) == (path.stem, "passed", exercise.points)


@pytest.mark.parametrize("name", WANTED)
def test_another_thread_that_draws_does_not_count_as_our_own_answer(name):
    source, wanted = WANTED[name]
    threads = torch.get_num_threads()
    with a_thread_that_draws():
        said = traces(local(source))
    torch.set_num_threads(threads)
    assert wanted in said and bool(said) == bool(wanted)


def test_a_check_seeds_no_generator_of_the_graders_process():
    random.seed(5)
    numpy.random.seed(5)
    before = random.getstate(), str(numpy.random.get_state()), torch.get_rng_state()
    assert traces(local(PURE)) == ""
    assert random.getstate() == before[0] and str(numpy.random.get_state()) == before[1]
    assert torch.equal(torch.get_rng_state(), before[2])


def test_the_numbers_that_a_box_must_draw_are_those_of_seeded_generators():
    """Computed with generators of the grader's own, compared here with a process's global ones."""
    with SandboxClient(choose()) as student:
        student.bind(Path(afterwards.__file__).read_text(encoding="utf-8"), afterwards.NAMES)
        student.call("given_seed", 20170612)
        after = student.call("given_after", torch.eye(5))
    assert after["draw"] == _expected()["draw"] and after["settings"] == afterwards.DEFAULTS


def test_nobody_is_accused_of_nothing():
    """If the answers differ although the student's leaves nothing behind, the grader was disturbed: a fault of its."""
    check = purity(lambda draw: [Case("twice", (draw.normal(3),))])
    with pytest.raises(RuntimeError, match="the grader was disturbed"):
        check.explain(NOTHING | {"random numbers": ["Python"]}, NOTHING)


def test_a_disturbed_grader_gives_no_verdict(monkeypatch):
    """Were the right answer ever another than that nothing changes, the submission would wait for a person."""
    exercise = registry.find("masks.causal")
    right = answers(exercise, "right")[0].read_text(encoding="utf-8")
    disturbed = NOTHING | {"random numbers": ["Python"]}
    monkeypatch.setattr("autograder.checks.properties.purity.NOTHING", disturbed)
    verdict = grade_source(exercise, right, backend=choose())
    assert verdict.status == "not_graded" and "the grader was disturbed" in verdict.reason


def test_what_nothing_changes_is_computed_before_the_first_answer_runs():
    """Otherwise the functions of an answer that replaces torch's would be what later answers are compared with."""
    softmax = torch.softmax
    replaces = "import torch\ndef twice(x):\n    torch.softmax = lambda x, dim: x.exp()\n    return 2 * x\n"
    subject = local(replaces)
    _expected.cache_clear()
    try:
        found = _traces(Case("twice", (torch.ones(3),)), ["x"], subject)
    finally:
        torch.softmax = softmax
    assert found["library"]
    assert compare(afterwards.library(MATRIX), _expected()["library"]) is None
