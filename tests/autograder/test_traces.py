"""What a call leaves behind is seen by what follows from it, whatever a box says."""

import pytest
import torch

from autograder.checks import Case, purity
from autograder.checks.local import LocalSubject
from autograder.checks.probe import examine
from autograder.sandbox import choose
from autograder.sandbox_client import Cell, SandboxClient

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
    "mutates": (MUTATES, "changes its own input (argument 1)"),
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
    assert "changes its own input (argument 1)" in found.message
