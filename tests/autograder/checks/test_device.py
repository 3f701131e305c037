"""On another device: everything lies there, the answers come home, and what cannot be asked there is said so.

Without a card a pretended device shows that right answers keep to the device of their inputs (`pretended.py`).
"""

from dataclasses import replace

import pytest
import torch

from autograder.api import with_hints
from autograder.checks import Case, device, gradients, precision, values
from autograder.checks.device import DeviceSubject
from autograder.checks.local import LocalSubject
from autograder.checks.probe import collect_answers, examine, questions
from autograder.checks.reference import reference_of
from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.feedback.html import verdict_html
from autograder.grade import run
from autograder.sandbox import SandboxError, choose
from autograder.sandbox.client import Cell, SandboxClient, StudentError
from tests.autograder.pretended import DEVICE, pretended

EXERCISES = registry.exercises()
QUICK = ("attention.scaled_dot_product", "masks.decoder", "attention.multi_head", "decoding.greedy", "sparse.bigbird",
         "tokenizers.bpe_apply", "reformer.chunked")  # fmt: skip
CELL = registry.find("rnn.cell")
RIGHT = answers(CELL, "right")[0].read_text()
MINUTES = [pytest.mark.slow, pytest.mark.sampled(12)]
UNMETERED = "no control group"  # why costs are not judged on a machine without any
need_card = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA device")


def defined(source):
    namespace = {"__name__": "answer"}
    exec(compile(source, "answer.py", "exec"), namespace)
    return LocalSubject(namespace)


def cases(draw):
    yield Case("half", (draw.normal(2, 3),))


HALF = "import torch\ndef half(x):\n    return x / 2"
STRAYS = {
    "mixes devices": "import torch\ndef half(x):\n    return x * torch.full((3,), 0.5)",
    "leaves": "def half(x):\n    return x.cpu() / 2",
}


def seen_there(source, checks):
    with pretended():
        return examine(checks, DeviceSubject(defined(source), DEVICE), DeviceSubject(defined(HALF), DEVICE), 1)


def test_answers_come_home():
    findings = seen_there(HALF, [values(cases), gradients(cases)])
    assert [finding.failed for finding in findings] == [[], [], []]  # values, their form, gradients
    assert all(type(answer.actual) in (torch.Tensor, dict) for finding in findings for answer in finding.answers)


@pytest.mark.parametrize(("how", "said"), [("mixes devices", "on the same device"), ("leaves", "is on cpu where")])
def test_who_leaves_the_device_fails(how, said):
    assert said in seen_there(STRAYS[how], [values(cases)])[0].message


def test_a_dtype_that_the_device_lacks_is_not_run():
    refuse = "    if x.dtype == torch.bfloat16:\n        raise RuntimeError('not for BFloat16')\n"
    picky = f"import torch\ndef half(x):\n{refuse}    return x / 2"
    checks = [values(cases), precision(cases, torch.bfloat16)]
    with pretended():
        there = DeviceSubject(defined(picky), DEVICE)
        seen, _, lacking = collect_answers(questions(checks, there, 1), there)
    assert not seen.check.not_run and seen.answers and not lacking.answers and not lacking.failed
    assert lacking.check.not_run == f"cannot be asked on {DEVICE}: RuntimeError: not for BFloat16"
    with pytest.raises(RuntimeError, match="the reference fails check"):  # here it is our own mistake
        examine(checks, defined(picky), defined(picky), 1)


@pytest.mark.parametrize("name", ["sparse.sliding_window", "fast.chunked_loss"])
def test_the_cost_of_an_answer_on_another_device_is_counted(name):
    """Our own answers judge by counts, wherever they are asked; boxes are measured, which these are not."""
    exercise = registry.find(name)
    right, checks = defined(answers(exercise, "right")[0].read_text()), registry.check_function(exercise)()
    costs = [check for check in checks if check.property == "cost"]
    findings = examine(costs, DeviceSubject(right, "cpu"), DeviceSubject(reference_of(exercise), "cpu"), 1)
    assert findings and not any(finding.failed or finding.check.not_run for finding in findings)


def test_a_device_without_numbers_runs_nothing():
    findings = examine([values(cases)], DeviceSubject(defined(HALF), "meta"), DeviceSubject(defined(HALF), "meta"), 1)
    assert findings[0].check.not_run.startswith("cannot be asked on meta: cpu cannot hold this tensor")


@pytest.mark.parametrize("exercise", [pytest.param(e, marks=MINUTES * (e.id not in QUICK), id=e.id) for e in EXERCISES])
def test_right_answers_keep_to_the_device(exercise):
    core = [check for check in registry.check_function(exercise)() if check.core]
    with pretended():
        asked = list(questions(core, DeviceSubject(reference_of(exercise), DEVICE), 3))
        assert [check.not_run for check, _ in asked if check.not_run] == []
        for path in answers(exercise, "right"):
            for finding in collect_answers(asked, DeviceSubject(defined(path.read_text()), DEVICE)):
                assert finding.failed == [], (path.name, finding.message)


def test_one_tensor_passed_twice_stays_one_and_functions_answer_there():
    class Bare:
        def call(self, name, a, b, f):
            return a is b, f(a).device.type

    with pretended():
        there, x = DeviceSubject(Bare(), DEVICE), torch.ones(2)
        assert there.call("ask", x, x, lambda y: y + torch.ones(2)) == (True, DEVICE)
        assert there.call("ask", x, x.clone(), lambda y: y)[0] is False


def test_a_module_with_weights_is_built_in_one_question():
    """The subject builds, loads and converts it; only then is it moved."""
    made = []

    class Bare:
        def build_loaded(self, name, args, state, dtype):
            made.append((name, args[0].device.type, state["weight"].device.type, dtype))
            return self

        def to(self, how):
            made.append(how)
            return self

    with pretended():
        there = DeviceSubject(Bare(), DEVICE)
        there.build_loaded("Layer", (torch.ones(2),), {"weight": torch.ones(2)}, torch.float64)
    assert made == [("Layer", DEVICE, "cpu", torch.float64), DEVICE]


def test_the_same_way_through_a_box():
    """`cpu` by the way that a card goes, from the device's start to the parameters of a module."""
    exercise = registry.find("transformer.feed_forward")
    reference = DeviceSubject(reference_of(exercise), "cpu")
    with SandboxClient(choose()) as student:
        assert student.start_device("cpu") == "cpu"
        student.run_cells([Cell("answer", answers(exercise, "right")[0].read_text())])
        findings = examine(registry.check_function(exercise)(), DeviceSubject(student, "cpu"), reference, 1)
    assert [finding.message for finding in findings if finding.failed] == []
    assert not any(finding.check.not_run for finding in findings)


def test_a_box_without_the_device_says_so():
    with SandboxClient(choose()) as student, pytest.raises(SandboxError, match="cannot use nonsense"):
        student.start_device("nonsense")


class Walled:
    name, cards = "walled", False


@pytest.mark.parametrize("card", [False, True])
def test_what_is_asked_for_and_what_there_is(monkeypatch, card):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: card)
    device.no_gpu_reason.cache_clear()
    lack = "the walled sandbox cannot use a GPU" if card else "this machine has no CUDA device"
    assert device.choose("cpu", Walled()) == ("cpu", "")
    assert device.choose("auto", Walled()) == ("cpu", lack)
    assert device.choose("cuda", Walled()) == ("cuda", lack)
    device.no_gpu_reason.cache_clear()


def judged(monkeypatch, where, why):
    monkeypatch.setattr(device, "choose", lambda asked, backend: (where, why))
    return run.grade_source(CELL, RIGHT, backend=choose())


def test_that_there_was_no_card_is_told_and_costs_nothing(monkeypatch):
    verdict = judged(monkeypatch, "cpu", "this machine has no CUDA device")
    assert (verdict.status, verdict.score, verdict.device) == ("passed", CELL.points, "cpu")
    assert (verdict.checks[-1].status, verdict.checks[-1].message) == ("not_run", "this machine has no CUDA device")
    assert "this machine has no CUDA device" in verdict_html(verdict, hints=0)
    asked = judged(monkeypatch, "cuda", "this machine has no CUDA device")
    assert (asked.status, asked.reason) == ("not_graded", "this machine has no CUDA device; grade with --device cpu")


def test_where_no_tensors_are_there_is_nothing_to_be_put_on_a_card(monkeypatch):
    monkeypatch.setattr(device, "choose", lambda asked, backend: ("cpu", "this machine has no CUDA device"))
    merges = registry.find("tokenizers.bpe_apply")
    verdict = run.grade_source(merges, answers(merges, "right")[0].read_text(), backend=choose())
    assert {check.status for check in verdict.checks} == {"passed"}


@pytest.mark.parametrize(("lacking", "status"), [("gradients", "passed"), ("right values", "not_graded")])
def test_what_is_not_run_is_never_passed_and_costs_no_points(monkeypatch, lacking, status):
    checks = [replace(c, probes=_fail if c.name == lacking else c.probes) for c in registry.check_function(CELL)()]
    monkeypatch.setattr(registry, "check_function", lambda exercise: lambda: checks)
    monkeypatch.setattr(device, "choose", lambda asked, backend: ("meta", ""))
    monkeypatch.setattr(SandboxClient, "start_device", lambda student, name: name)
    monkeypatch.setattr(device, "DeviceSubject", Named)
    verdict = run.grade_source(CELL, RIGHT, backend=choose())
    score = CELL.points if status == "passed" else 0
    assert (verdict.status, verdict.score, verdict.device) == (status, score, "meta")
    assert [c.status for c in verdict.checks if c.name == lacking] == ["not_run"]
    assert "no float16 here" in str(with_hints(verdict.as_json(), 0)["checks"])


def _fail(draw, reference):
    raise StudentError("device", "no float16 here")


class Named:
    """Says that it is elsewhere, and works here."""

    def __init__(self, subject, name):
        self.subject, self.device = subject, name

    def __getattr__(self, name):
        return getattr(self.subject, name)


# -- with a card: `pytest -m gpu tests/autograder` --------------------------------------------------------------------
@pytest.mark.gpu
@need_card
@pytest.mark.parametrize("kind", ["right", "wrong"])
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_an_answer_of_every_exercise_is_judged_in_a_box_on_the_card(exercise, kind):
    assert first_judged(exercise, kind, "cuda") is not None, "nothing but a control group can judge its answers"


@pytest.mark.gpu
@need_card
@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize("kind", ["right", "wrong"])
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_more_answers_are_judged_in_boxes_on_the_card(exercise, kind):
    for path in answers(exercise, kind)[1:4]:
        judge_in_a_box(exercise, path, kind, "cuda")


def first_judged(exercise, kind, where):
    """The first answer of this kind that gets the right verdict there; those that only a control group can judge, on a
    machine without any, are passed over."""
    return next((path for path in answers(exercise, kind) if judge_in_a_box(exercise, path, kind, where)), None)


def judge_in_a_box(exercise, path, kind, where):
    """Asserts that the verdict is right -> whether the answer was judged, and not left to a control group."""
    verdict = run.grade_source(exercise, path.read_text(), backend=choose(), device=where, seed=5)
    left = [check.message for check in verdict.checks if check.status == "not_run"]
    if kind == "wrong" and verdict.status == "passed" and any(text.startswith(UNMETERED) for text in left):
        return False
    assert (verdict.device, verdict.status == "passed") == (where, kind == "right"), (path, verdict)
    allowed = (UNMETERED, *["your code gave no answer"] * (kind == "wrong"), *["the CPU alone was"] * (where == "cpu"))
    assert [message for message in left if not message.startswith(allowed)] == []
    return True


@pytest.mark.parametrize("kind", ["right", "wrong"])
def test_the_judge_of_answers_on_a_card_judges_here(kind):
    """What the tests above do on a card, on the CPU."""
    assert first_judged(CELL, kind, "cpu") == answers(CELL, kind)[0]


def test_an_answer_that_gets_the_other_verdict_is_no_judged_one():
    with pytest.raises(AssertionError):
        judge_in_a_box(CELL, answers(CELL, "wrong")[0], "right", "cpu")


@pytest.mark.gpu
@need_card
def test_an_answer_that_stays_on_the_cpu_fails_on_the_card():
    source = "def rnn_cell(x, h, w_x, w_h, b):\n    return (x @ w_x + h @ w_h + b).tanh().cpu()"
    verdict = run.grade_source(CELL, source, backend=choose(), device="cuda")
    assert verdict.status == "failed" and "is on cpu where cuda is expected" in str(verdict.checks)
