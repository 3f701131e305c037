"""Branching from a run: what the browser asks, the model answers."""

from __future__ import annotations

import pytest
import torch

import tfkit
from tests.decode.test_generate import END, SOURCES, START, ours, plain
from tests.decode.test_record import NAMES, PROMPT, name
from tests.decode.test_strategies import causal
from tfkit.decode import Beam, Greedy, Sample, generate
from tfkit.text.vocabulary import train
from tfkit_lab import Stepper
from tfkit_lab.trace import validate

HOW = dict(token=name, end_id=END, max_new_tokens=6)


def seq2seq(strategy, model=None, **how):
    return Stepper.live(model or plain(), SOURCES[:1], strategy=strategy, start_id=START, **HOW, **how)


def path(trace):
    return [trace["nodes"][i]["token_id"] for i in trace["path"]][1:]


def test_a_decoder_goes_on_from_another_token():
    model = causal()
    stepper = Stepper.live(model, torch.tensor(PROMPT), strategy=Greedy(), **HOW)
    said = path(stepper.trace)
    other = (said[1] + 1) % len(NAMES)
    stepper.answer({"do": "branch", "of": 0, "ids": [said[0], other]})
    validate(stepper.other)
    ids = torch.tensor([[*PROMPT, said[0], other]])
    assert path(stepper.other) == generate(model, ids, end_id=END, max_new_tokens=4)[0, ids.size(1) :].tolist()
    assert stepper.other["offset"] == 2 and stepper.other["prompt"][-2:] == [NAMES[said[0]], NAMES[other]]


def test_a_forced_token_is_a_token_even_if_it_is_that_of_padding():
    """A model that was hardly trained says anything: its own words are no padding, and stay where they are."""
    pad = next(i for i in range(len(NAMES)) if i not in (*PROMPT, END))
    stepper = Stepper.live(causal(), torch.tensor(PROMPT), strategy=Greedy(), pad_id=pad, **HOW)
    stepper.answer({"do": "branch", "of": 0, "ids": [pad, 4]})
    assert stepper.other["prompt"] == [NAMES[i] for i in (*PROMPT, pad, 4)]


@pytest.mark.parametrize("model", [plain, ours], ids=["by hand", "tfkit's"])
def test_an_encoder_decoder_goes_on_from_another_token_and_from_there_again(model):
    stepper, token = seq2seq(Beam(2), model()), 4
    stepper.answer({"do": "branch", "of": 0, "ids": [token]})
    stepper.answer({"do": "branch", "of": 1, "ids": [token + 1]})
    assert stepper.other["prompt"] == ["<s>", NAMES[token], NAMES[token + 1]] and stepper.other["offset"] == 2
    assert len(stepper.other["steps"]) <= 4 and stepper.trace["offset"] == 0
    stepper.answer({"do": "keep", "of": 1})
    assert stepper.other is None and stepper.trace["offset"] == 2
    stepper.answer({"do": "branch", "of": 0, "ids": [token]})
    assert stepper.other["prompt"][1:] == [NAMES[token], NAMES[token + 1], NAMES[token]]


def test_the_step_reaches_to_the_longer_of_two():
    stepper = seq2seq([Greedy(), Sample()])
    stepper.step = 99
    spans = [len(trace["steps"]) for trace in (stepper.trace, stepper.other)]
    assert stepper.step == max(spans) - 1
    assert stepper.figure().count("<figure") == 2


def test_another_text_is_decoded_by_both_strategies():
    stepper = seq2seq([Greedy(), Beam(2)], encode=lambda text: [NAMES.index(word) for word in text.split()])
    stepper.answer({"do": "prompt", "text": "the ! !"})
    assert stepper.trace["source"] == stepper.other["source"] == ["the", "!", "!"]
    assert [stepper.trace["strategy"], stepper.other["strategy"]] == ["greedy", "beam"]


def test_another_text_after_a_branch_is_decoded_once():
    stepper = seq2seq(Greedy(), encode=lambda text: [NAMES.index(word) for word in text.split()])
    stepper.answer({"do": "branch", "of": 0, "ids": [4]})
    stepper.answer({"do": "prompt", "text": "the ! !"})
    assert stepper.trace["source"] == ["the", "!", "!"] and stepper.trace["offset"] == 0 and stepper.other is None


def test_what_the_tokenizer_does_not_know_is_told():
    words = {name: i for i, name in enumerate(NAMES)}
    token = lambda i: "<unk>" if i == words["!"] else name(i)
    how = dict(token=token, end_id=END, max_new_tokens=6, start_id=START)
    encode = lambda text: [words.get(word, words["!"]) for word in text.split()]
    stepper = Stepper.live(plain(), SOURCES[:1], strategy=Greedy(), encode=encode, **how)
    stepper._on_request(stepper, {"do": "prompt", "text": "the 日本語 😀"}, [])
    assert stepper.message.startswith("2 of 3 tokens of this text are unknown") and stepper.n_answers == 1
    stepper._on_request(stepper, {"do": "prompt", "text": "the the"}, [])
    assert stepper.message == "" and stepper.n_answers == 2


@pytest.mark.parametrize(
    "asked, words",
    [
        ({"do": "prompt", "text": ""}, "no tokens"),
        ({"do": "prompt", "text": "x"}, "is not in list"),
        ({"do": "fly"}, "'fly'"),
    ],
)
def test_what_cannot_be_done_is_told_where_it_was_asked(asked, words):
    stepper = seq2seq(Greedy(), encode=lambda text: [NAMES.index(word) for word in text.split()])
    before = stepper.trace
    stepper._on_request(stepper, asked, [])
    assert words in stepper.message and stepper.trace == before and stepper.other is None


def test_a_recording_cannot_be_branched():
    stepper = Stepper(seq2seq(Greedy()).trace)
    assert stepper.requests == []
    with pytest.raises(ValueError, match="Stepper.live"):
        stepper.answer({"do": "branch", "of": 0, "ids": [3]})


def test_a_text_is_stepped_through(tmp_path) -> None:
    """`Stepper.live(tfkit.Text(path), "prompt")`: greedily, with the vocabulary's names, and asked for another text."""
    torch.manual_seed(0)
    model = tfkit.from_config(
        "gpt2", head="causal_lm", vocab_size=300, d_model=16, n_layers=1, n_heads=2, bos_token_id=1, eos_token_id=2
    )
    text = tfkit.Text(model, train("byte_bpe", ["the cat sat on the mat"] * 5, 300))
    stepper = Stepper.live(text, "the cat", max_new_tokens=4)
    assert [node for node in stepper.trace["prompt"]] == ["<s>", *map(text.token, text.prompt("the cat")[1:])]
    assert stepper.trace["title"] == "the cat" and stepper.trace["strategy"] == "greedy"
    stepper.answer({"do": "prompt", "text": "the mat"})
    assert stepper.trace["title"] == "the mat" and stepper.requests == ["branch", "prompt"]
    with pytest.raises(TypeError, match="GPT2 has none: pass tfkit.Text"):
        Stepper.live(model, "the cat")
