"""The checks of unit 15: random inputs, and the properties that a solution must have for each of them."""

import math
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from autograder.checks import (
    Case,
    Check,
    Draw,
    Part,
    Probe,
    contiguity,
    edges,
    extremes,
    function,
    module,
    precision,
    squared_error,
    trains,
    values,
)

LINEAR = """
import torch
from torch import nn


def _given_linear(columns, out, bias, double):
    layer = nn.utils.skip_init(nn.Linear, columns, out, bias, dtype=torch.float64 if double else torch.float32)
    for number, parameter in enumerate(layer.parameters()):
        entries = torch.arange(parameter.numel(), dtype=torch.float64)
        with torch.no_grad():
            parameter.copy_(torch.cos(1.7 * entries + number).view_as(parameter) / 2)
    return layer
"""
LORA = [  # in, out, rank, alpha, bias
    (1, 1, 1, 1.0, True),
    (3, 2, 1, 2.0, False),
    (4, 4, 2, 1.0, True),
    (3, 5, 2, 8, True),
    (5, 3, 4, 2.0, False),
    (2, 3, 5, 16, True),  # a rank above both widths
]


def lora() -> list[Check]:
    """tuning.lora: forward, merged, and what it starts with"""

    def cases(draw: Draw):
        for place, sizes in enumerate(LORA):
            shape = [(1, 1), (2, 3), (4,), (2, 1, 3), (3, 2), ()][place]
            yield _lora(draw, sizes, (draw.normal(*shape, sizes[0]),))
        yield _double(_lora(draw, LORA[3], (draw.normal(2, LORA[3][0]).double(),)))

    def merged(draw: Draw):
        for sizes in LORA:
            yield _lora(draw, sizes, (), method="merged")

    def lesson(draw: Draw):
        wanted = draw.normal(6, 4)
        yield _lora(draw, LORA[2], (draw.normal(6, 4),)), squared_error(wanted)

    one_weight = replace(values(merged), name="merged: the values", core=False)
    exact = [replace(precision(merged, torch.float64), name="merged: float64 in, float64 out")]
    more = [_starts(cases), _unchanged(merged), trains(lesson, own=True)]
    return [*module(cases), one_weight, *exact, *more]


def _lora(draw: Draw, sizes: tuple, args: tuple, method: str | None = None) -> Case:
    columns, out, rank, alpha, bias = sizes
    init = (Part(LINEAR, "_given_linear", (columns, out, bias, False), description="a linear layer"), rank, alpha)
    return draw.module("LoRALinear", init, args, method=method, length=columns + rank, amplify=4.0)


def _double(case: Case) -> Case:
    layer, *rest = case.init or ()
    layer = replace(layer, args=(*layer.args[:3], True))
    return replace(case, init=(layer, *rest), state={name: value.double() for name, value in case.state.items()})


def _starts(cases) -> Check:
    """That b is zero before anything was learned, so that nothing changes, and that a is random."""

    def start(case: Case, subject) -> dict:
        fresh = replace(case, state=None).build(subject)
        state = fresh.method("state_dict")
        a, b = state.get("a"), state.get("b")
        if not isinstance(a, Tensor) or not isinstance(b, Tensor):
            return {}
        drawn = a.numel() == 1 or bool(a.std() > 0)
        return {"b is zero": not b.any(), "a is random": drawn and bool(a.any())}

    return Check("starts as the base", lambda draw, _: [Probe(partial(start, c), c, c.tolerance) for c in cases(draw)])


def _unchanged(cases) -> Check:
    """That merged() leaves the layer as it was."""

    def after(case: Case, subject) -> dict:
        layer = case.build(subject)
        layer.method("merged")
        return {"merged again": layer.method("merged"), "state": dict(layer.method("state_dict"))}

    def explain(_, __) -> str:
        return "after merged() has been called the layer's parameters, or what merged() answers, are others than before"

    probes = lambda draw, _: [Probe(partial(after, case), case, case.tolerance) for case in cases(draw)]
    return Check("merged changes nothing", probes, explain=explain, property="purity")


def chat_labels() -> list[Check]:
    """tuning.chat_labels"""

    def cases(draw: Draw):
        for roles, lengths in [
            (["assistant"], [1]),
            (["user", "assistant"], [2, 3]),
            (["system", "user", "assistant"], [2, 1, 2]),
            (["user", "assistant", "user", "assistant"], [1, 2, 3, 1]),
            (["assistant", "user"], [3, 2]),
            (["user", "assistant", "assistant"], [1, 0, 2]),  # an empty turn
            (["user", "user", "tool"], [2, 0, 1]),  # nobody to learn from
            ([], []),
        ]:
            turns = [(role, draw.integers(5, 90, n).tolist()) for role, n in zip(roles, lengths, strict=True)]
            yield Case("chat_labels", (turns, draw.integer(0, 5)))
        a, b = draw.integers(5, 90, 2).tolist()
        yield Case("chat_labels", ([("user", [a, 2]), ("assistant", [b, 2])], 2))  # turns that end in end_id
        yield Case("chat_labels", ([("user", [2]), ("assistant", [a, 2, b]), ("assistants", [a, b])], 2))

    def long(draw: Draw):
        turns = [("user", draw.integers(5, 90, 300).tolist()), ("assistant", draw.integers(5, 90, 300).tolist())]
        yield Case("chat_labels", (turns, 2))

    return function(cases, floats=False, long=long)


def sequence_log_probs() -> list[Check]:
    """tuning.sequence_log_probs"""

    def cases(draw: Draw, scale: float = 2.0):
        for place, (batch, length, vocab) in enumerate(
            [(1, 2, 2), (1, 1, 3), (2, 3, 3), (3, 4, 5), (2, 7, 4), (4, 4, 4)]
        ):
            labels = draw.integers(0, vocab, batch, length)
            if place > 1:
                labels = labels.masked_fill(draw.normal(batch, length) < -0.3, -100)
                labels[0, 0], labels[0, 1:3] = vocab - 1, torch.tensor([0, -100])  # a first label counts nowhere
            if place == 5:
                labels[1] = -100  # a row in which nothing counts
            logits = scale * draw.normal(batch, length, vocab)
            size = length * logits.abs().max().item()
            yield Case("sequence_log_probs", (logits, labels), length=vocab * length, scale=size)

    def long(draw: Draw):
        logits, labels = draw.normal(2, 530, 3), draw.integers(0, 3, 2, 530)
        yield Case("sequence_log_probs", (logits, labels), length=1590, scale=1000.0)

    return [*function(cases, long=long), extremes(lambda draw: cases(draw, 3000.0))]


def reward_loss() -> list[Check]:
    """tuning.reward_loss"""

    def cases(draw: Draw, scale: float = 2.0):
        for batch in (1, 2, 3, 5, 8):
            chosen, rejected = scale * draw.normal(batch), scale * draw.normal(batch)
            if batch == 3:  # a choice between two that are worth the same
                rejected = torch.cat([chosen[:1], rejected[1:]])
            yield Case("reward_loss", (chosen, rejected), length=batch, scale=max(1.0, scale))
        yield Case("reward_loss", (100 + chosen, 100 + rejected), length=batch, scale=100.0)
        yield Case("reward_loss", (chosen, chosen.clone()), length=batch, scale=1.0)

    return [*function(cases), extremes(lambda draw: cases(draw, 5e3))]


def dpo() -> list[Check]:
    """tuning.dpo"""

    def cases(draw: Draw, scale: float = 3.0):
        for place, batch in enumerate((1, 2, 3, 5, 8)):
            given = [-scale * (3 + draw.normal(batch)).abs() for _ in range(4)]
            if batch == 3:  # the model that is trained is the reference, as it is before the first step
                given[2:] = [given[0].clone(), given[1].clone()]
            beta = (0.1, 0.5, 0.1, 1.0, 2)[place]
            size = max(1.0, beta * max(value.abs().max().item() for value in given))
            yield Case("dpo_loss", (*given, beta), length=4 * batch, scale=size)

    return [*function(cases), extremes(lambda draw: cases(draw, 2e3))]


def group_advantages() -> list[Check]:
    """tuning.group_advantages"""

    def cases(draw: Draw):
        for groups, size in [(1, 2), (2, 3), (3, 3), (4, 8), (1, 5)]:
            yield _advantages(draw.normal(groups, size) + torch.linspace(-2, 2, size))
            yield _advantages(draw.normal(groups, size) + torch.linspace(2, -2, size), {"eps": 0.5})
        right = draw.integers(0, 2, 3, 4).float()
        right[0] = torch.tensor([1.0, 0.0, 0.0, 0.0])
        right[1], right[2] = 1.0, 0.0  # all are right, none is: nothing to learn from
        yield _advantages(right)
        yield _advantages(2e-6 * torch.tensor([[0.0, 1.0], [3.0, 1.0]]))  # where the default eps matters
        yield _advantages(torch.full((2, 1), 0.5))

    def far(draw: Draw):  # the difference of two large squares has no digits left
        yield _advantages(1000.0 + draw.normal(8, 6), rounded=False)  # one row of many may be right by chance

    exact = [precision(cases, torch.float64), precision(cases, torch.bfloat16)]
    own = [contiguity(cases), values(far, "rewards far from zero", weight=1.0, core=False)]
    return [*function(cases, floats=False), *exact, *own]


def _advantages(rewards: Tensor, more: dict | None = None, rounded: bool = True) -> Case:
    rewards = rewards.bfloat16().float() if rounded else rewards
    spread = rewards.std(-1, correction=0)
    ratio = (rewards.abs().amax(-1) / spread)[spread > 0].max().item() if (spread > 0).any() else 1.0
    return Case("group_advantages", (rewards,), more or {}, length=rewards.size(-1), amplify=2.0 * ratio)


def policy_loss() -> list[Check]:
    """tuning.policy_loss"""

    def cases(draw: Draw, hidden: float = 3.0):
        for place, (batch, length) in enumerate([(1, 1), (1, 4), (3, 3), (4, 7), (2, 9)]):
            mask = draw.padding_mask(batch, length) if place < 3 else draw.mask(batch, length)
            old = -draw.normal(batch, length).abs()
            log_probs = old + _clear_of_the_clip(draw, (batch, length), more := {} if place % 2 else {"clip": 0.3})
            old, log_probs = (x.masked_fill(~mask, 0.0) + hidden * draw.normal(batch, length) * ~mask
                              for x in (old, log_probs))  # fmt: skip
            advantages = draw.normal(batch) + torch.tensor([1.5, -1.5]).repeat(batch)[:batch]
            given = (log_probs, old, advantages, mask)
            yield Case("clipped_policy_loss", given, more, length=batch * length, scale=8.0, amplify=4.0)

    def nothing(draw: Draw):
        for shape in [(1, 1), (2, 3)]:
            given = (draw.normal(*shape), draw.normal(*shape), draw.normal(shape[0]))
            yield Case("clipped_policy_loss", (*given, torch.zeros(shape, dtype=torch.bool)))

    def far(draw: Draw):
        old = -draw.normal(2, 4).abs()
        moves = torch.tensor([[45.0, -45.0, 0.0, 3.0], [-45.0, 45.0, -3.0, 0.1]])
        mask = torch.ones(2, 4, dtype=torch.bool)
        yield Case("clipped_policy_loss", (old + moves, old, torch.tensor([1.0, -0.5]), mask), length=16, amplify=64.0)
        yield from cases(draw, 1e30)

    return [*function(cases), edges(nothing, "no token that counts"), extremes(far)]


def _clear_of_the_clip(draw: Draw, shape: tuple, more: dict) -> Tensor:
    """Changes of log-probability on both sides of both ends, none so near an end that bfloat16 cannot tell."""
    clip, found = more.get("clip", 0.2), draw.normal(*shape)
    for edge in (math.log(1 - clip), math.log(1 + clip)):
        found = torch.where((found - edge).abs() < 0.06, edge + 0.12 * torch.sign(found - edge + 1e-6), found)
    return 0.5 * found if found.abs().max() > 3 else found


def kl() -> list[Check]:
    """tuning.kl"""

    def cases(draw: Draw, hidden: float = 3.0):
        for place, (batch, length) in enumerate([(1, 1), (1, 4), (3, 3), (4, 7), (2, 9)]):
            mask = draw.padding_mask(batch, length) if place < 3 else draw.mask(batch, length)
            log_probs, moved = -draw.normal(batch, length).abs(), draw.normal(batch, length)
            if place == 2:
                moved[0] = 0.0  # where both agree
            given = [x.masked_fill(~mask, 0.0) + hidden * draw.normal(batch, length) * ~mask
                     for x in (log_probs, log_probs + moved)]  # fmt: skip
            largest = moved.abs().max().exp().item()
            yield Case("kl_estimate", (*given, mask), length=batch * length, scale=largest, amplify=4.0)

    def nothing(draw: Draw):
        for shape in [(1, 1), (2, 3)]:
            yield Case("kl_estimate", (draw.normal(*shape), draw.normal(*shape), torch.zeros(shape, dtype=torch.bool)))

    def far(draw: Draw):
        log_probs, moves = -draw.normal(2, 3).abs(), torch.tensor([[45.0, -45.0, 0.0], [-45.0, 3.0, 20.0]])
        mask = torch.ones(2, 3, dtype=torch.bool)
        yield Case("kl_estimate", (log_probs, log_probs + moves, mask), length=16, amplify=64.0)
        yield from cases(draw, 1e30)

    return [*function(cases), edges(nothing, "no token that counts"), extremes(far)]
