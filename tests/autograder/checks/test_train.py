"""What only training shows: what is kept from an earlier call, and what never learns from where it starts."""

import pytest
import torch
from torch import nn

from autograder.checks import squared_error, trains
from autograder.checks.local import LocalSubject
from autograder.checks.probe import collect_answers, examine, questions
from autograder.checks.properties.trains import Adam, GradientDescent
from autograder.checks.reference import reference_of
from autograder.corpus.judge import ask_reference, examine_answer
from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.grade import run
from autograder.sandbox import choose

ONLY_HERE = {
    "attention.multi_head": ("joined_weights_kept",),
    "transformer.feed_forward": ("dead_from_the_start",),
    "transformer.seq2seq": ("starts_at_zero", "scaled_table_kept", "memory_kept"),
}
LEARNS = "trains in a few steps"


def lesson(exercise, seed):
    check = next(c for c in registry.check_function(exercise)() if c.name == LEARNS)
    return list(questions([check], reference_of(exercise), seed))


@pytest.mark.parametrize("name", ONLY_HERE)
def test_nothing_else_shows_it(name):
    exercise = registry.find(name)
    question_sets = ask_reference(exercise, 7)
    for path in answers(exercise, "wrong"):
        if path.stem in ONLY_HERE[name]:
            assert [f.check.name for f in examine_answer(path, question_sets) if f.failed] == [LEARNS], path.stem


@pytest.mark.slow
@pytest.mark.parametrize("name", ONLY_HERE)
def test_whatever_is_drawn(name, every):
    exercise = registry.find(name)
    for seed in range(0, 20, every(5)):
        question_sets = lesson(exercise, seed)
        for path in answers(exercise, "right"):
            assert [f.message for f in examine_answer(path, question_sets) if f.failed] == [], (path.stem, seed)
        for path in answers(exercise, "wrong"):
            if path.stem in ONLY_HERE[name]:
                assert any(f.failed for f in examine_answer(path, question_sets)), (path.stem, seed)


def _matrices(module, fill):
    for parameter in module.parameters():
        if parameter.dim() > 1:
            fill(parameter)


STARTS = {
    "as they come": (lambda m: None, True),
    "Glorot and Bengio's": (lambda m: _matrices(m, nn.init.xavier_uniform_), True),
    "He's": (lambda m: _matrices(m, nn.init.kaiming_normal_), True),
    "BERT's": (lambda m: _matrices(m, lambda p: nn.init.normal_(p, std=0.02)), True),
    "one over the root of the width": (lambda m: _matrices(m, lambda p: nn.init.normal_(p, std=8**-0.5)), True),
    "nothing": (lambda m: [nn.init.zeros_(p) for p in m.parameters()], False),
    "not numbers": (lambda m: _matrices(m, lambda p: nn.init.constant_(p, torch.nan)), False),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", STARTS)
@pytest.mark.parametrize("name", ["transformer.feed_forward", "transformer.seq2seq"])
def test_any_sensible_start_will_do(name, how):
    exercise = registry.find(name)
    fill, learns = STARTS[how]
    model = reference_of(exercise).namespace[exercise.symbols[0]]

    class Started(model):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            fill(self)

    for draw in (7, 11):  # at the first seed of these Glorot's or He's start learns too little
        (found,) = collect_answers(lesson(exercise, draw), LocalSubject({model.__name__: Started}))
        assert (not found.failed) == learns, found.message
        assert learns or "hardly falls" in found.message


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(GradientDescent(0.1), torch.optim.SGD), (Adam(0.1), torch.optim.Adam)],
    ids=["descent", "Adam"],
)
def test_the_updates_are_those_of_torch(ours, theirs):
    draw = torch.Generator().manual_seed(3)
    weights = {"a": torch.randn(3, 2, generator=draw), "b": torch.randn(4, generator=draw), "idle": torch.ones(2)}
    tensors = {name: value.clone().requires_grad_() for name, value in weights.items()}
    optimiser = theirs(tensors.values(), lr=0.1)
    for _ in range(5):
        gradients = {name: torch.randn(weights[name].shape, generator=draw) for name in ("a", "b")}
        weights |= ours.step(weights, gradients)
        for name, gradient in gradients.items():
            tensors[name].grad = gradient
        optimiser.step()
    for name, value in tensors.items():
        torch.testing.assert_close(weights[name], value.detach())


class Line(nn.Module):
    def __init__(self):
        super().__init__()
        self.map = nn.Linear(3, 3)

    def forward(self, x):
        return self.map(x)


class Forger(Line):
    """Claims that there is nothing to train."""

    def state_dict(self, *args, **kwargs):
        return {"map.weight": "none", "map.bias": [1, 2]}


class Counts(Line):
    """Answers in another shape from the third call on."""

    calls = 0

    def forward(self, x):
        self.calls += 1
        return self.map(x) if self.calls < 3 else self.map(x)[:1]


class Still(Line):
    """Always the first answer."""

    first = None

    def forward(self, x):
        self.first = self.map(x) if self.first is None else self.first
        return self.first.detach() + 0 * self.map(x)


@pytest.mark.parametrize(
    ("model", "said"),
    [(Line, ""), (Forger, "hardly falls"), (Counts, "cannot be computed"), (Still, "does not follow the parameters")],
)
def test_answers_of_any_kind_are_judged(model, said):
    def cases(draw):
        yield draw.module("Line", (), (draw.normal(4, 3),)), squared_error(draw.normal(4, 3))

    (found,) = examine([trains(cases, own=True)], LocalSubject({"Line": model}), LocalSubject({"Line": Line}), 1)
    assert (found.message == "") == (said == "") and said in found.message


def test_through_a_box():
    exercise = registry.find("attention.multi_head")
    path = next(path for path in answers(exercise, "wrong") if path.stem == "joined_weights_kept")
    verdict = run.grade_source(exercise, path.read_text(), backend=choose())
    assert (verdict.status, verdict.misconception) == ("failed", path.stem)
    assert 0 < verdict.score < exercise.points and "the loss is not what it should be" in str(verdict.checks)
    right = run.grade_source(exercise, answers(exercise, "right")[0].read_text(), backend=choose())
    assert right.status == "passed"
