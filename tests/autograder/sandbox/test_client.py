"""The conversation with a box: values, gradients, callbacks, errors. Runs on every backend that works here."""

from __future__ import annotations

import re
import time
from collections import namedtuple

import pytest
import torch

from autograder.api import Limits
from autograder.sandbox import SandboxError, backends
from autograder.sandbox.client import Cell, SandboxClient, StudentError

CODE = """
import random
import torch
from torch import nn

def scale(x, by=2.0):
    return x * by, x > 0

def same(a, b):
    return a is b

def strides(x):
    return x.stride()

def broken(x):
    raise ValueError("no such luck")

def meddle(x):
    x.add_(1)
    torch.rand(1)
    torch.set_default_dtype(torch.float64)
    return x

def use(step, n):
    return [step(torch.tensor([i])) for i in range(n)]

class Box:
    pass

def make():
    return Box()

def is_box(b):
    return isinstance(b, Box)

class Affine(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
    def forward(self, x):
        return self.lin(x)
    def twice(self, x):
        return 2 * self.lin(x)
"""


@pytest.fixture(scope="module", params=backends(), ids=lambda kind: kind.name)
def found(request):
    """A backend that works here, or why it does not."""
    backend = request.param()
    try:
        backend.probe()
        yield backend
    except SandboxError as error:
        yield error
    backend.close()


@pytest.fixture
def backend(request, found):
    if isinstance(found, SandboxError):
        # what a machine lacks is never told by such an error: it is a fault of this project, and a skip would hide it
        assert not re.search(r"\b(Attribute|Name|Type|Import|ModuleNotFound)Error\b", str(found)), found
        reason = f"this machine has no such sandbox: {found}"
        request.applymarker(pytest.mark.skip(reason=reason))  # so marked, tests with one reason are one line
        pytest.skip(reason)
    return found


@pytest.fixture
def student(backend):
    with SandboxClient(backend, Limits(call_s=10)) as student:
        assert student.run_cells([Cell("code", CODE)])[0].error is None
        yield student


def fails(kind, function, *args, **kwargs):
    with pytest.raises(StudentError) as caught:
        function(*args, **kwargs)
    assert caught.value.kind == kind, caught.value
    return caught.value


def test_values_come_back_as_they_are(student):
    x = torch.randn(3, 4, dtype=torch.float64)
    out, positive = student.call("scale", x, by=-3.0)
    assert torch.equal(out, x * -3.0) and out.dtype == torch.float64
    assert positive.dtype == torch.bool and torch.equal(positive, x > 0)
    half, _ = student.call("scale", x.to(torch.bfloat16))
    assert half.dtype == torch.bfloat16


def test_arguments_keep_identity_and_layout(student):
    x = torch.randn(3, 4)
    assert student.call("same", x, x) is True
    assert student.call("same", x, x.clone()) is False
    assert student.call("strides", x.T) == (1, 4)
    assert student.call("strides", x[:, :1].expand(3, 4))[1] == 0


def test_kind_of_names(student):
    assert student.kind("scale") == "function"
    assert student.kind("Affine") == "class"
    assert student.kind("nowhere") is None
    fails("missing", student.call, "nowhere")


def test_errors_carry_the_students_own_lines(student):
    error = fails("exception", student.call, "broken", torch.ones(1))
    assert "no such luck" in error.message
    assert "broken" in error.traceback and "agent.py" not in error.traceback
    assert student.call("same", 1, 2) is False  # the box lives on


def test_vector_jacobian_products(student):
    x, cotangent = torch.randn(2, 3), torch.randn(2, 3)
    out, grads = student.vjp("scale", [x], {"by": 5.0}, [cotangent])
    assert torch.equal(out[0], x * 5.0)
    assert torch.allclose(grads[0], cotangent * 5.0)
    assert student.vjp("make", [], {}, [None])[1] == []


def test_gradients_inside_lists_tuples_and_mappings_are_counted(student):
    student.run_cells([Cell("c", "def total(pair, named, by):\n    return pair[0][0] + pair[1] + named['a'] + by")])
    one, Pair = torch.ones(2), namedtuple("Pair", "first second")
    args, kwargs = [Pair([one], one), {"a": one, "n": torch.ones(2, dtype=torch.int64)}], {"by": one}
    assert len(student.vjp("total", args, kwargs, [one])[1]) == 4


@pytest.mark.parametrize("grads", ["[]", "[None, None]", "[1.0]"])
def test_forged_gradients_are_the_students_fault(student, grads):
    forger = f"""
import gc
for thing in gc.get_objects():
    if type(thing).__name__ == "Agent":
        thing.op_vjp = lambda **_: {{"out": None, "grads": {grads}, "parameters": {{}}}}
"""
    assert student.run_cells([Cell("c", forger)])[0].error is None
    error = fails("protocol", student.vjp, "scale", [torch.ones(2)], {}, [torch.ones(2)])
    assert "vjp answered" in error.message and not student.alive


def test_watch_sends_the_arguments_back_as_the_call_left_them(student):
    assert torch.equal(student.observe("scale", torch.ones(2)).args_after[0], torch.ones(2))
    assert torch.equal(student.observe("meddle", torch.ones(2)).args_after[0], torch.full((2,), 2.0))


def test_the_grader_is_called_back(student):
    seen = []

    def step(ids):
        seen.append(int(ids))
        return ids * 10

    assert [int(t) for t in student.call("use", step, 3)] == [0, 10, 20]
    assert seen == [0, 1, 2]


def test_a_failing_callback_fails_in_the_students_code(student):
    def step(ids):
        raise RuntimeError("bad ids")

    assert "bad ids" in fails("exception", student.call, "use", step, 1).message
    assert len(student.callback_errors) == 1


def test_objects_that_cannot_travel_can_be_handed_back(student):
    box = student.call("make")
    assert box.type_name == "__main__.Box"
    assert student.call("is_box", box) is True


def test_handles_load_strictly(student):
    handle = student.build("Affine", 2)
    assert handle.state_shapes() == {"lin.weight": (2, 2), "lin.bias": (2,)}
    handle.load({"lin.weight": torch.eye(2), "lin.bias": torch.ones(2)})
    assert handle(torch.zeros(1, 2)).tolist() == [[1.0, 1.0]]
    assert handle.method("twice", torch.zeros(1, 2)).tolist() == [[2.0, 2.0]]
    assert "lin.bias" in fails("exception", handle.load, {"lin.weight": torch.eye(2)}).message
    fails("missing", handle.method, "thrice", torch.zeros(1, 2))
    assert handle.to(torch.float64)(torch.zeros(1, 2, dtype=torch.float64)).dtype == torch.float64


def test_gradients_of_parameters(student):
    handle = student.build("Affine", 2)
    out, grads, parameters = handle.vjp("twice", [torch.ones(1, 2)], {}, [torch.ones(1, 2)])
    assert out.shape == (1, 2) and grads[0].shape == (1, 2)
    assert parameters["lin.bias"].tolist() == [2.0, 2.0]


def test_a_frozen_parameter_has_no_gradient_and_stops_nothing(student):
    handle = student.build("Affine", 2)
    handle.method("requires_grad_", False)
    _, grads, parameters = handle.vjp("twice", [torch.ones(1, 2)], {}, [torch.ones(1, 2)])
    assert grads[0].shape == (1, 2) and not parameters


def test_bound_names_and_given_modules(student):
    masks = "def full(n):\n    return [True] * n"
    student.inject({"tfkit.nn.masks": masks, "tfkit.nn": "from tfkit.nn.masks import full"})
    outcome = student.run_cells([Cell("i", "from tfkit.nn import full\nprint(full(2))")])[0]
    assert outcome.outputs[0]["text"] == "[True, True]\n"
    student.bind("_n = 7\ndef scale(x):\n    return _n", ["scale"])
    assert student.call("scale", 1) == 7


def test_cells_show_what_a_notebook_shows(student):
    outcome = student.run_cells([Cell("a", "%matplotlib inline\n%nosuchmagic\n!true\nprint('hi')\n41 + 1")])[0]
    kinds = [item["output_type"] for item in outcome.outputs]
    assert outcome.error is None and kinds[-1] == "execute_result" and "stream" in kinds
    assert outcome.outputs[-1]["data"]["text/plain"] == "42"


def test_a_failing_cell_does_not_stop_the_next(student):
    first, second = student.run_cells([Cell("a", "1/0"), Cell("b", "later = 1")])
    assert first.error.startswith("ZeroDivisionError") and not first.lost
    assert first.outputs[-1]["output_type"] == "error"
    assert second.error is None and student.kind("later") == "int"


def test_an_endless_cell_is_interrupted_and_the_box_lives(student):
    outcome = student.run_cells([Cell("a", "while True:\n    pass")], seconds=0.5)[0]
    assert outcome.timed_out and not outcome.lost
    assert student.kind("scale") == "function"


def test_warnings_are_only_output(student):
    source = "import warnings, sys\nwarnings.warn('careful')\nprint('x', file=sys.stderr)"
    outcome = student.run_cells([Cell("a", source)])[0]
    assert outcome.error is None
    assert any("careful" in item.get("text", "") for item in outcome.outputs)


def test_usage_is_counted_outside(student):
    usage = student.usage()
    assert usage.wall_s > 0 and usage.cpu_s >= 0 and usage.peak_bytes >= 0


def test_an_answer_far_larger_than_can_be_right_is_refused_and_the_box_lives_on(student):
    student.run_cells([Cell("c", "import torch\ndef much(n):\n    return torch.zeros(n)")])
    student.limit_answer(1000)
    with pytest.raises(StudentError, match="the answer takes .* bytes; a right one takes at most 1,048,576"):
        student.call("much", 1 << 20)
    assert student.call("much", 3).shape == (3,)
    student.limit_answer(1 << 20)
    assert student.call("much", 1 << 20).shape == (1 << 20,)


def test_a_forged_frame_larger_than_allowed_is_not_read(student):
    forger = """
import gc, torch
for thing in gc.get_objects():
    if type(thing).__name__ == "Agent":
        thing.__class__.answer.__globals__["_fits"] = lambda *a: None
def much(n):
    return torch.zeros(n)
"""
    student.run_cells([Cell("c", forger)])
    student.limit_answer(1000)
    with pytest.raises(StudentError, match="an invalid answer") as caught:
        student.call("much", 1 << 20)
    assert caught.value.kind == "protocol" and not student.alive


def test_a_box_may_take_so_long_of_its_processor_and_longer_by_the_walls_clock(backend):
    with SandboxClient(backend, Limits(wall_s=1.0, call_s=10)) as student:
        student.run_cells([Cell("c", "def one():\n    return 1\ndef endless():\n    while True:\n        pass")])
        time.sleep(1.1)
        if not student.is_timed:
            assert student.out_of_time
            return
        assert not student.out_of_time and student.call("one") == 1
        with pytest.raises(StudentError) as caught:
            student.call("endless")
        assert caught.value.kind == "timeout"


def test_the_graders_own_functions_work_within_the_questions_time(backend):
    def slow(n):
        end = time.thread_time() + 0.4
        while time.thread_time() < end:
            pass
        return n

    with SandboxClient(backend, Limits(wall_s=60, call_s=0.3)) as student:
        student.run_cells([Cell("c", "def ask(step):\n    return [step(n) for n in range(100)]")])
        with pytest.raises(StudentError, match="grader's functions that the code called took too long") as caught:
            student.call("ask", slow)
        assert caught.value.kind == "timeout" and not student.alive
