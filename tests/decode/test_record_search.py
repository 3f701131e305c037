"""A student's own search, recorded through its calls of `step`."""

from __future__ import annotations

import pytest
import torch

from tests.decode.test_generate import END, SOURCES, START, plain, step_of
from tests.decode.test_record import name
from tfkit.decode import TextbookBeam, beam_search, greedy_decode, record, record_search
from tfkit_lab.trace import validate

PAD = 0


def greedy(step):
    return greedy_decode(step, torch.tensor([START]), END, 6, PAD)


def beam(step):
    return beam_search(step, START, END, 3, 6)


def one_at_a_time(step):
    """A beam search that calls `step` for one hypothesis at a time."""
    return beam(lambda prefixes: torch.cat([step(prefix[None]) for prefix in prefixes]))


def recorded(search, asked, **how):
    return record_search(search, step_of(asked, SOURCES[:1]), token=name, end_id=END, **how)


def said(trace):
    return [START, *(trace["nodes"][node]["token_id"] for node in trace["path"][1:])]


@pytest.mark.parametrize("search", [greedy, beam, one_at_a_time])
def test_the_recorded_path_is_what_the_search_returned(search):
    model = plain()
    trace = recorded(search, model)
    validate(trace)
    found = search(step_of(model, SOURCES[:1]))
    assert said(trace) == (found[0].tolist() if search is greedy else found[0][0])
    assert trace["strategy"] == "your search" and len(trace["steps"]) >= len(trace["path"]) - 1


def test_the_hypotheses_of_a_textbook_beam_are_those_that_the_library_records():
    model = plain()
    mine, theirs = recorded(beam, model), record(
        model, SOURCES[:1], token=name, strategy=TextbookBeam(3), start_id=START, end_id=END, max_new_tokens=6
    )  # fmt: skip
    for mine_step, their_step in zip(mine["steps"], theirs["steps"], strict=True):
        texts = [
            {tuple(trace_path(trace, node)) for node in step["live"]}
            for trace, step in ((mine, mine_step), (theirs, their_step))
        ]
        assert texts[0] == texts[1]
        assert mine_step["topk"][str(mine_step["live"][0])]
    assert mine["nodes"][mine["best"]]["score"] == pytest.approx(theirs["nodes"][theirs["best"]]["score"])


def trace_path(trace, node):
    ids = []
    while node > 0:
        ids.append(trace["nodes"][node]["token_id"])
        node = trace["nodes"][node]["parent"]
    return ids[::-1]


def test_attention_is_that_of_the_model_along_the_best_hypothesis():
    model = plain()
    trace = recorded(beam, model, model=model, source_ids=SOURCES[:1])
    validate(trace)
    assert trace["source"] == [name(i) for i in SOURCES[0].tolist()]
    assert trace["attention"]["self"]["rows"] == len(trace["path"])


@pytest.mark.parametrize(
    "search, words",
    [
        (lambda step: torch.tensor([START]), "never called step"),
        (lambda step: greedy_decode(step, torch.tensor([START, START]), END, 6, PAD), "returned 2"),
        (lambda step: [step(torch.tensor(ids)).argmax().item() for ids in ([[START]], [[5, 6, 7]])], "whole prefixes"),
        (lambda step: [step(torch.tensor([[START]])).argmax().item()], "start included"),
    ],
)
def test_a_search_that_cannot_be_followed_is_told_so(search, words):
    with pytest.raises(ValueError, match=words):
        recorded(search, plain())
