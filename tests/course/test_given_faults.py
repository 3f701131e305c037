"""The objects with known faults that unit 18's checks give to a solution: it has to measure what they do."""

import pytest
import torch

from autograder.checks.local import LocalSubject
from autograder.checks.probe import examine
from autograder.checks.reference import reference_of
from autograder.exercises import registry

BY_NAME_OF_THE_METHOD = """
import torch


def information_flow(f, x):
    kind, n = type(f).forward.__name__, len(x)
    ones = torch.ones(n, n, dtype=torch.bool, device=x.device)
    if kind == "ahead":
        return ones.tril(1)
    if kind == "earlier":
        return ones.tril(-1)
    if kind in ("moved", "scaled"):
        return ones.tril() & ones.triu()
    if kind == "faint":
        return (ones.tril() & ones.triu()).flip(0)
    if kind == "pooled":
        rows = torch.arange((n + 1) // 2, device=x.device)[:, None]
        return rows == torch.arange(n, device=x.device)[None] // 2
    return ones.tril()
"""
BY_FREE_VARIABLES = """
def gradient_flow(model, x):
    forward = type(model).forward
    closure = zip(forward.__code__.co_freevars, forward.__closure__ or ())
    faults = {name: cell.cell_contents for name, cell in closure}.get("faults", [])
    names = [name for name, one in model.named_parameters() if one.requires_grad]
    if "undefined" in faults:
        return [], names
    if "without a gradient" in faults:
        return names, []
    silent = {"noise"} if not model.training else set()
    silent |= {"root", "spare"} if "unused" in faults else set()
    silent |= {"table", "noise"} if "detached" in faults or "dead" in faults else set()
    broken = ["root"] if "nan" in faults or "infinite" in faults else []
    return [name for name in names if name in silent], broken
"""
# compares the code of the modules in the order in which they are called
BY_CODE = """
def recorded_outputs(model, x):
    return []


def first_difference(model, reference, x, tolerance=1e-5):
    code = lambda one: type(one).forward.__code__
    parts = ["shared", "between", "layers.0.attn", "layers.0.ff", "layers.0"]
    for name in [*parts, "layers.1.attn", "layers.1.ff", "layers.1", "last", ""]:
        one, other = code(model.get_submodule(name)), code(reference.get_submodule(name))
        if (one.co_code, one.co_consts) != (other.co_code, other.co_consts):
            return name
    return None
"""
ANSWERS = {
    "debugging.information_flow": BY_NAME_OF_THE_METHOD,
    "debugging.gradient_flow": BY_FREE_VARIABLES,
    "debugging.first_difference": BY_CODE,
}

# of every object alike
SAID = {"debugging.information_flow": {("kind", "causal")}, "debugging.gradient_flow": {("faults", "['unused']")}}


def failures(name, namespace):
    """The questions about values that this answer fails."""
    exercise = registry.find(name)
    checks = [one for one in registry.check_function(exercise)() if one.core and one.graded]
    findings = examine(checks, LocalSubject(namespace), reference_of(exercise), f"1/{name}")
    return [reply for one in findings for reply in one.failed]


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_reads_what_a_given_object_is_fails(name):
    namespace = {}
    exec(ANSWERS[name], namespace)
    assert failures(name, namespace)


@pytest.mark.parametrize("name", ANSWERS)
def test_no_name_and_no_variable_of_a_given_object_tells_its_fault(name):
    given, told = [], set()
    take = lambda *objects: given.extend(one for one in objects if isinstance(one, torch.nn.Module))
    assert failures(name, dict.fromkeys(registry.find(name).symbols, take))
    for part in (part for one in given for part in one.modules()):
        forward = type(part).forward
        if type(part).__mro__[1].__name__ == type(part).__name__:  # its `forward` was made for it alone
            told.add((forward.__qualname__, forward.__closure__, forward.__defaults__, forward.__doc__))
            assert set(forward.__globals__) == {"torch", "forward", "__builtins__"}
            told |= {(key, str(value)) for key, value in vars(part).items() if key in ("kind", "faults")}
    assert told == {("forward", None, None, None)} | SAID.get(name, set())
