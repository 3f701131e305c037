"""Answers that nobody foresees are wrong. None is left for a person to grade because the checker stumbled over it."""

import pytest

from autograder.exercises import registry
from autograder.grade import run
from autograder.sandbox import choose

# A stranger value at each call. `a` is what the answer was called with.
NONSENSE = """
import torch
from torch import nn, ones

VALUES = [
    lambda a: None, lambda a: "x" * 1000, lambda a: True, lambda a: -1, lambda a: 10**400,
    lambda a: float("nan"), lambda a: float("-inf"), lambda a: int, lambda a: nn.Linear(2, 2), lambda a: iter([1]),
    lambda a: (), lambda a: [], lambda a: {}, lambda a: {1: 2, (1, 2): ones(2), None: a}, lambda a: [["a", "b"], [1]],
    lambda a: {"a": {"b": [1, {"c": None}]}}, lambda a: [10**30, -(10**30)], lambda a: (None, None),
    lambda a: a, lambda a: list(a), lambda a: a[0] if a else None, lambda a: a[-1] if a else 3, lambda a: [a] * 3,
    lambda a: ones(0), lambda a: torch.tensor(1.0), lambda a: ones(2, 3, 4, 5, 6), lambda a: ones(1, 1, 1, 1, 1, 1, 1),
    lambda a: torch.empty(0, 5), lambda a: ones(2).to_sparse(), lambda a: torch.zeros(3).expand(1000, 1000, 3),
    lambda a: [ones(2), ones(3)], lambda a: {"a": ones(2)}, lambda a: (ones(1),) * 3,
    lambda a: ones(3, dtype=torch.complex64), lambda a: ones(3, dtype=torch.bool), lambda a: ones(2, dtype=torch.int8),
    lambda a: ones(5, dtype=torch.float16), lambda a: torch.full((2, 3), float("inf")),
    lambda a: torch.full_like(a[0], float("nan")), lambda a: a[0] * 1e300, lambda a: a[0].long() * 10**15,
    lambda a: a[0].double(), lambda a: a[0].bool(), lambda a: a[0][..., None], lambda a: a[0].flatten(),
]
turn = START


def nonsense(*a, **k):
    global turn
    turn += 1
    return VALUES[turn % len(VALUES)](a)
"""
CLASS = """

class NAME(nn.Module):
    def __init__(self, *a, **k):
        super().__init__()

    def load_state_dict(self, state, *a, **k):
        return None

    def __call__(self, *a, **k):
        return nonsense(*a)

    def __iter__(self):
        return iter([nonsense()])

    def __len__(self):
        return 3

    def __getattr__(self, name):
        return super().__getattr__(name) if name.startswith("_") else nonsense
"""
STARTS = 0, 14, 28


def answer(exercise, start):
    """A solution that begins with the value number `start`."""
    text = NONSENSE.replace("START", str(start))
    for symbol in exercise.symbols:
        text += CLASS.replace("NAME", symbol) if symbol[0].isupper() else f"\n\n{symbol} = nonsense\n"
    return text


def graded(exercise, start, backend):
    verdict = run.grade_source(exercise, answer(exercise, start), backend=backend, seed=5)
    return f"{exercise.id} from {start}", verdict.status, verdict.score, verdict.reason


def test_a_class_without_parameters_cannot_be_trained():
    assert graded(registry.find("transformer.feed_forward"), 7, choose())[1:3] == ("failed", 0.0)


def test_a_dictionary_where_none_belongs():
    exercise = registry.find("objectives.denoise")
    answer = f"def f(*a):\n    return {{'tokens': a[0]}}\n\n\n{' = '.join(exercise.symbols)} = f\n"
    verdict = run.grade_source(exercise, answer, backend=choose())
    assert verdict.status == "failed" and "dict" in verdict.checks[0].message


def test_truth_values_where_numbers_belong():
    answer = "def multimodal_inputs(features, words, *rest):\n    return words.repeat(1, 2, 1) > 0\n"
    verdict = run.grade_source(registry.find("mmbt.inputs"), answer, backend=choose())
    assert (verdict.status, verdict.score) == ("failed", 0.0)


@pytest.mark.slow
@pytest.mark.sampled(10)
@pytest.mark.parametrize("exercise", registry.exercises(), ids=lambda exercise: exercise.id)
def test_nonsense_is_wrong(exercise):
    graded_ones = [graded(exercise, start, choose()) for start in STARTS]
    assert [one for one in graded_ones if one[1:3] != ("failed", 0.0)] == []
