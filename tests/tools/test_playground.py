"""The page to play with: its sentences, its file, and the numbers of tfkit that play.spec.ts reads."""

from __future__ import annotations

import json
import random
import re

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from tfkit import from_config
from tools.playground import GOLDEN, MODEL, corpus, facts, pack


@pytest.fixture(scope="module")
def model():
    return pack.load()


def test_the_golden_numbers_are_those_of_tfkit(model):
    """Decimals are rounded to six digits, and a kernel of another machine adds in another order."""
    kept = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert [one["text"] for one in kept] == list(pack.TEXTS)
    for one in kept:
        found = pack.reading(model, one["ids"])
        assert found["largest"] == one["largest"]
        torch.testing.assert_close(torch.tensor(found["logits"]), torch.tensor(one["logits"]), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(torch.tensor(found["weights"]), torch.tensor(one["weights"]), rtol=1e-4, atol=1e-5)
        for (shares, best), (kept_shares, kept_best) in zip(found["lens"], one["lens"], strict=True):
            assert best == kept_best and shares == pytest.approx(kept_shares, abs=1e-4)


def test_the_page_is_small():
    assert MODEL.stat().st_size < 1_500_000


def test_a_matrix_is_packed_to_half_a_step_of_each_row():
    torch.manual_seed(0)
    weight = torch.randn(5, 7) * torch.tensor([[1e-3], [1.0], [30.0], [0.1], [5.0]])
    steps = weight.abs().amax(1, keepdim=True) / 127
    assert ((pack.unpack_tensor(pack.pack_tensor(weight)) - weight).abs() <= steps * 0.5001).all()
    gain = torch.randn(7)
    assert pack.unpack_tensor(pack.pack_tensor(gain)).equal(gain)


def test_a_model_is_written_and_read_again_with_its_vocabulary(tmp_path):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=270, special_tokens=["<|start|>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(["the cat sat on the mat " * 9], trainer)
    torch.manual_seed(0)
    small = dict(d_model=8, n_layers=1, n_heads=2, d_ff=6, tie_word_embeddings=True)
    made = from_config("llama", head="causal_lm", vocab_size=270, **small).eval()
    pack.pack(made, tokenizer, tmp_path / "model.json")
    kept = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))["vocabulary"]
    spelled = {token: bytes([byte]) for byte, token in enumerate(kept["bytes"])}
    for rank, (left, right) in enumerate(kept["merges"]):
        spelled[kept["first"] + rank] = spelled[left] + spelled[right]
    text = "the mat, naïve"
    assert b"".join(spelled[token] for token in tokenizer.encode(text).ids).decode() == text
    ids = torch.tensor([tokenizer.encode(text).ids])
    torch.testing.assert_close(pack.load(tmp_path / "model.json")(ids).logits, made(ids).logits, atol=0.01, rtol=0)


def test_rules_fill_every_gap_and_do_not_err_in_sums_and_names():
    draw = random.Random(0)
    for rule in corpus.RULES:
        assert all("_" not in text and "  " not in text for text in (rule(draw) for _ in range(20)))
    for _ in range(50):
        said = re.match(r"When (\w+) and (\w+) went .*, (\w+) gave the \w+ to (\w+)\.", corpus.giving(draw))
        assert said and {said[1], said[2]} == {said[3], said[4]}
    for text in (corpus.counting(draw) for _ in range(50)):
        row = facts.DIGITS if "+" in text else facts.NUMBERS
        a, b, total = (row.index(word.lower()) for word in re.findall(r"\w+", text) if word.lower() in row)
        assert a + b == total


def test_texts_are_the_same_for_a_seed():
    first, second = corpus.texts(3, ["Prose."]), corpus.texts(3, ["Prose."])
    some = [next(first) for _ in range(60)]
    assert some == [next(second) for _ in range(60)] and "Prose." in some


def test_every_pair_of_facts_has_two_halves():
    lists = [value for name, value in vars(facts).items() if name.isupper() and isinstance(value, list)]
    pairs = [pair for one in lists if isinstance(one[0], tuple) for pair in one]
    assert len(pairs) > 200 and all(left and right and not right.endswith("-") for left, right in pairs)
    assert all(" " not in word for one in lists if isinstance(one[0], str) for word in one)
