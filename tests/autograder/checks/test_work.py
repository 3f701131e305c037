"""What is counted is what the code does: whatever name it was imported by, however busy the machine."""

import subprocess
import sys

import pytest
import torch

from autograder.checks import Case, built, cost
from autograder.checks.local import LocalSubject
from autograder.checks.probe import examine
from autograder.checks.properties._spy import ATTENTION, SPY, spy_on
from autograder.checks.properties.cost import _grows
from autograder.checks.reference import reference_of
from autograder.diagnosis.compose import subject_of
from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.sandbox import SandboxError, choose
from autograder.sandbox.bubblewrap_alone import BubblewrapOnly
from autograder.sandbox.client import Cell, SandboxClient

BY_HAND = "def attend(q, k, v):\n    return (q @ k.transpose(-2, -1) / q.size(-1) ** 0.5).softmax(-1) @ v"
BORROWED = {
    "by its name": "import torch.nn.functional as F\ndef attend(q, k, v):\n"
    "    return F.scaled_dot_product_attention(q, k, v)",
    "by another": "from torch.nn.functional import scaled_dot_product_attention as f\ndef attend(q, k, v):\n"
    "    return f(q, k, v)",
    "in a module": "import torch\nm = torch.nn.MultiheadAttention(4, 2, batch_first=True)\n"
    "def attend(q, k, v):\n    return m(q, k, v)[0]",
}


def fake_student(source):
    """A boxed student's methods, in this process."""
    return LocalSubject.from_source(source)


def cases(draw):
    yield Case("attend", tuple(draw.normal(1, 3, 4) for _ in range(3)))


def verdict(check, source):
    return examine([check], fake_student(source), fake_student(BY_HAND), 1)[0]


@pytest.mark.parametrize("how", BORROWED)
def test_borrowing_is_told_and_where_asked_it_fails(how):
    reported, failed = (verdict(built(cases, ATTENTION, graded=graded), BORROWED[how]) for graded in (False, True))
    assert "torch's own" in reported.message and not reported.failed and reported.check.weight == 0
    assert "torch's own" in failed.message and failed.failed


def test_what_is_built_by_hand_is_not_borrowed():
    finding = verdict(built(cases, ATTENTION, graded=True), BY_HAND)
    assert finding.message == "" and not finding.failed


WINDOW = """
def local_mean(x):  # of each place and its left neighbour
    return x + x.roll(1, 0)
"""
SQUARE = """
import torch
def local_mean(x):
    places = torch.arange(len(x))
    near = (places[:, None] - places) % len(x) <= 1
    return near.to(x.dtype) @ x
"""
LOOP = """
import torch
def local_mean(x):
    return torch.stack([x[n] + x[n - 1] for n in range(len(x))])
"""
ELSEWHERE = """
import numpy
import torch
def local_mean(x):  # torch's modes see nothing of it
    places = numpy.arange(len(x))
    near = ((places[:, None] - places) % len(x) <= 1).astype("float32")
    return torch.from_numpy(near @ x.numpy())
"""
PADDED = """
import time
import torch
def local_mean(x):  # of all pairs, a block of rows at a time; short inputs idle until the growth is linear
    started, places = time.process_time(), torch.arange(len(x))
    outs = []
    for rows in places.split(256):
        near = (places[rows, None] - places) % len(x) <= 1
        outs.append(near.to(x.dtype) @ x)
    while len(x) > 1000 and time.process_time() - started < 0.5 * len(x) / 6144:
        pass
    return torch.cat(outs)
"""
HOARDED = """
import torch
first, second = torch.ones(12_000_000), torch.ones(0)  # 48 MB before the call
def local_mean(x):
    global second
    second = torch.ones(10_000_000)  # 40 MB in it
    return x + x.roll(1, 0)
"""
SHORT = WINDOW.replace("x.roll(1, 0)", "x.roll(1, 0) * (len(x) < 2000)")
HIDDEN = (
    SQUARE
    + """
from torch.utils._python_dispatch import _disable_current_modes
square = local_mean
def local_mean(x):
    with _disable_current_modes():
        return square(x)
"""
)
FORGED = (
    SQUARE
    + """
import gc
for thing in gc.get_objects():
    if type(thing).__name__ == "Agent":
        asked = thing.op_call
        def op_call(target, args, kwargs):
            value = asked(target, args, kwargs)
            return {"names": [], "work": 0, "largest": 0} if target[0] == "spy_end" else value
        thing.op_call = op_call
"""
)


def mean_of(draw, length):
    return Case("local_mean", (draw.normal(length, 1),))


def narrow():
    return cost(mean_of, "the window is narrow", count_at=64, measure_at=6144)


def test_our_own_answers_are_counted():
    found = [examine([narrow()], fake_student(source), fake_student(WINDOW), 1)[0] for source in (WINDOW, SQUARE)]
    assert found[0].message == ""
    assert found[1].message == "the window is narrow" and found[1].failed


@pytest.fixture(scope="module")
def counting():
    backend = choose()
    with SandboxClient(backend) as student:
        if not student.is_metered:
            pytest.skip(f"no control group counts what boxes of {backend.name} use here")
    return backend


def boxed(backend, source):
    with SandboxClient(backend) as student:
        student.run_cells([Cell("answer", source)])
        return examine([narrow()], student, fake_student(WINDOW), 1)[0]


@pytest.mark.parametrize("source", [WINDOW, LOOP], ids=["window", "slow but linear"])
def test_a_box_whose_cost_grows_as_the_length_is_within(counting, source):
    assert boxed(counting, source).message == ""


@pytest.mark.parametrize("source", [SQUARE, ELSEWHERE, HIDDEN, FORGED, PADDED, HOARDED],
                         ids=["plain", "numpy", "no modes", "agent", "padded", "hoarded"])  # fmt: skip
def test_a_box_with_a_table_of_all_pairs_fails_whatever_it_says(counting, source):
    assert boxed(counting, source).message == "the window is narrow"


def test_a_box_that_answers_a_long_input_with_less_work_and_other_values_is_told_so(counting):
    assert "on a long input the values are wrong" in boxed(counting, SHORT).message


class ListedMeasurements(SandboxClient):
    """Lists what was asked of the box, in order."""

    def __init__(self, backend):
        super().__init__(backend)
        self.asked = []

    def steady_memory(self):
        self.asked.append("steady memory")
        super().steady_memory()

    def keep_freed_memory(self):
        self.asked.append("keep freed memory")
        super().keep_freed_memory()

    def measure(self):
        self.asked.append("measure")
        return super().measure()


def test_time_is_measured_with_freed_memory_kept_and_peak_memory_without_it(counting):
    with ListedMeasurements(counting) as student:
        student.run_cells([Cell("answer", WINDOW)])
        assert examine([narrow()], student, fake_student(WINDOW), 1)[0].message == ""
    assert student.asked[:4] == ["steady memory", "measure", "measure", "keep freed memory"]
    assert student.asked[4:8] == ["measure"] * 4  # three lengths, after a call as a warm-up


FAULTS = """
import resource
import torch

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(4):
        torch.ones(4 << 20)  # 16 MB, or 4,096 pages
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
"""


def test_freed_memory_that_is_kept_costs_no_page_faults():
    with SandboxClient(choose()) as student:
        student.run_cells([Cell("answer", FAULTS)])
        student.steady_memory()
        given_back = student.call("faults")
        student.keep_freed_memory()
        kept = min(student.call("faults") for _ in range(6))  # replies may lie in its way
    if given_back < 4096:
        pytest.skip("this C library, or this kernel's large pages, cost no page faults")
    assert kept < given_back / 4


def test_where_nobody_counts_the_check_is_not_run():
    backend = BubblewrapOnly()
    try:
        backend.probe()
    except SandboxError as error:
        pytest.skip(f"not here: {error}")
    finding = boxed(backend, SQUARE)
    backend.close()
    assert not finding.failed and "no control group measures the bubblewrap-alone box" in finding.check.not_run


@pytest.mark.parametrize(
    ("seconds", "grows"),
    [((0.001, 0.002, 0.004), False), ((0.15, 0.3, 0.6), False), ((0.03, 0.12, 0.5), True), ((0.02, 0.3, 0.5), False)],
)
def test_what_is_growth(seconds, grows):
    assert _grows(list(seconds)) == grows


def test_products_count_their_inner_length_and_views_hold_nothing():
    counted = spy_on(LocalSubject({}), lambda: torch.ones(2, 3) @ torch.ones(3, 5))
    assert counted["work"] == 2 * 3 + 3 * 5 + 2 * 3 * 5
    assert counted["calls"] == 3  # two tensors and their product
    assert spy_on(LocalSubject({}), lambda: torch.ones(2).expand(1000, 2))["largest"] == 8


def test_the_spy_leaves_when_the_code_stops():
    def fails():
        raise ValueError

    with pytest.raises(ValueError):
        spy_on(LocalSubject({}), fails)
    assert torch.ones(1).sum() == 1 and torch.overrides._get_current_function_mode() is None


def test_the_spy_is_quick_in_a_fresh_process():
    """It runs in every box. torch's compiler, which a dispatch mode may load, takes seconds."""
    code = "import sys; exec(sys.argv[1]); spy_begin(); torch.ones(2) @ torch.ones(2); print(spy_end()['work'])"
    code += "; print('torch._dynamo.eval_frame' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, SPY], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["6", "False"]


@pytest.mark.parametrize("exercise_id, in_vain", [
    ("modern.experts", {"all_experts_masked"}), ("modern.latent_attention", {"unpacked"}),
])  # fmt: skip
def test_work_in_vain_is_a_remark_and_costs_nothing(exercise_id, in_vain):
    exercise = registry.find(exercise_id)
    checks = [check for check in registry.check_function(exercise)() if check.name == "work"]
    reference, expensive = reference_of(exercise), set()
    for path in answers(exercise, "right"):
        (found,) = examine(checks, subject_of(path), reference, "seed")
        assert not found.failed
        expensive |= {path.stem} if found.message else set()
    assert expensive == in_vain
    (found,) = examine(checks, reference, reference, "seed")
    assert not found.message
