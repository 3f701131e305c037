"""Properties that a box could lie about are seen by their consequences."""

import pytest
import torch

from autograder.checks import Case, purity
from autograder.checks.local import Local
from autograder.checks.probe import examine
from autograder.sandbox import choose
from autograder.student import Cell, Student

PURE = "def twice(x):\n    return 2 * x\n"
MUTATES = "def twice(x):\n    return x.mul_(2).clone()\n"
DRAWS = "import torch\ndef twice(x):\n    torch.rand(1)\n    return 2 * x\n"
SEEDS = "import torch\ndef twice(x):\n    torch.manual_seed(1)\n    return 2 * x\n"
FORGED = """
import gc
for thing in gc.get_objects():
    if type(thing).__name__ == "Agent":
        def op_watch(target, args, kwargs):  # says that nothing changed
            before = [arg.clone() if hasattr(arg, "clone") else arg for arg in args]
            value = thing.target(target)(*args, **kwargs)
            return {"value": value, "args_after": before, "kwargs_after": kwargs, "rng_changed": False,
                    "state_changed": [], "cpu_s": 0.0, "wall_s": 0.0, "peak_bytes": 0}
        thing.op_watch = op_watch
        break
"""


def local(source):
    namespace: dict = {"__name__": "student"}
    exec(compile(source, "student.py", "exec"), namespace)
    return Local(namespace)


def traces(subject):
    check = purity(lambda draw: [Case("twice", (draw.normal(3),))])
    state = torch.get_rng_state()
    finding = examine([check], subject, local(PURE), 1)[0]
    assert torch.equal(state, torch.get_rng_state())
    return finding.message


WANTED = {PURE: "", MUTATES: "changes its own input", DRAWS: "draws random numbers", SEEDS: "draws random numbers"}


@pytest.mark.parametrize("source", WANTED, ids=["pure", "mutates", "draws", "seeds"])
def test_what_our_own_answers_leave_behind(source):
    assert WANTED[source] in traces(local(source)) and bool(traces(local(source))) == bool(WANTED[source])


@pytest.mark.parametrize("forged", ["", FORGED], ids=["honest", "forged"])
@pytest.mark.parametrize("source", WANTED, ids=["pure", "mutates", "draws", "seeds"])
def test_what_a_box_leaves_behind_whatever_it_says(source, forged):
    with Student(choose()) as student:
        student.run_cells([Cell("answer", source + forged)])
        said = traces(student)
    assert WANTED[source] in said and bool(said) == bool(WANTED[source])
