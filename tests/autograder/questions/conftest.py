"""One answer whose questions are made once for all tests."""

import pytest

from autograder.exercises import registry
from autograder.questions.make import questions
from autograder.questions.question import CodeQuestion
from autograder.questions.runs import StudentCode
from autograder.sandbox import choose

ATTEND = """\
import torch


def attend(query, keys, mask):
    scores = torch.einsum("bh,bsh->bs", query, keys)
    hidden = ~mask
    scores = scores.masked_fill(hidden, float("-inf"))
    empty = hidden.all(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(empty, 0.0), dim=-1).masked_fill(empty, 0.0)
    context = torch.einsum("bs,bsh->bh", weights, keys)
    return context, weights
"""


@pytest.fixture(scope="session")
def backend():
    return choose(trust=True)


@pytest.fixture(scope="session")
def code() -> StudentCode:
    return StudentCode(registry.find("attention.attend"), ATTEND)


@pytest.fixture(scope="session")
def made(code, backend) -> list[CodeQuestion]:
    return questions(code, backend, seed=0, count=6)
