"""The trained byte-level tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfkit.text import BPETokenizer

TEXTS = ["Save the file", "Save all the files", "Enregistrer le fichier", "Réessayer plus tard", "l'éditeur"] * 4


@pytest.fixture(scope="module")
def tokenizer():
    return BPETokenizer.train(TEXTS, 320)


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_text_round_trips(tokenizer, text):
    text = text.lstrip(" ")  # the space before the first word is the tokenizer's own
    if not any(special in text for special in ("<pad>", "<s>", "</s>", "<unk>")):
        assert tokenizer.decode(tokenizer.encode([text])) == [text]


def test_merges_are_learned_and_shown_readably(tokenizer):
    ids = tokenizer.encode(["Save the file"])[0]
    assert len(ids) <= 4
    assert "".join(tokenizer.tokens(ids)) == "▁Save▁the▁file"
    assert tokenizer.tokens([0, 1, 2, 3]) == ["<pad>", "<s>", "</s>", "<unk>"]


def test_a_row_ends_at_its_end(tokenizer):
    ids = tokenizer.encode(["Save"])[0]
    assert tokenizer.decode([[1, *ids, 2, *ids, 0, 0]]) == ["Save"]


def test_saved_and_loaded(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "deep" / "tokenizer.json")
    again = BPETokenizer.load(tmp_path / "deep" / "tokenizer.json")
    assert again.encode(TEXTS) == tokenizer.encode(TEXTS) and len(again) == len(tokenizer)


def test_errors():
    with pytest.raises(ValueError, match="260"):
        BPETokenizer.train(TEXTS, 100)
    with pytest.raises(FileNotFoundError, match="train one"):
        BPETokenizer.load("nowhere.json")
    with pytest.raises(TypeError, match="got one string"):
        BPETokenizer.train("hello", 300)


def test_an_id_that_is_no_symbol_is_an_error(tokenizer):
    with pytest.raises(ValueError, match="id 9999 is not in the vocabulary"):
        tokenizer.decode([[9999]])
