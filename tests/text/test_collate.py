"""Text into batches: languages, segments, labels; and that a DataLoader and a model take them."""

from __future__ import annotations

import pytest
import torch

import tfkit
from tfkit.objectives.masked_lm import MaskedLM
from tfkit.objectives.sentence_pairs import sentence_order_pairs
from tfkit.objectives.text_to_text import text_to_text
from tfkit.text.collate import Collator, parallel_texts, sentence_pairs, text_pairs, translations
from tfkit.text.vocabulary import train

TEXTS = ["the cat sat on the mat", "a dog", "the dog sat on the log", "a cat and a dog sat"]
FRENCH = ["le chat", "un chien", "le chien est là", "un chat et un chien"]
WORDS = train("unigram", [*TEXTS, *FRENCH] * 5, 90, ["__en__", "__fr__"])
EN, FR = WORDS.inner.token_to_id("__en__"), WORDS.inner.token_to_id("__fr__")


def test_a_data_loader_makes_batches_that_a_model_takes():
    collate = Collator(WORDS, MaskedLM(WORDS.mask_id, len(WORDS), rate=0.5), length=8)
    loader = torch.utils.data.DataLoader(TEXTS, batch_size=2, collate_fn=collate)
    sizes = {"vocab_size": len(WORDS), "d_model": 8, "n_layers": 1, "n_heads": 2, "d_ff": 16}
    model = tfkit.from_config("bert", "masked_lm", **sizes)
    for batch in loader:
        assert batch["input_ids"].shape == batch["labels"].shape and batch["input_ids"].size(1) <= 8
        assert model(**batch).loss.isfinite()


def test_pairs_of_texts():
    read = [text_to_text("summarization", text=text) for text in TEXTS]
    batch = text_pairs(WORDS, read, FRENCH)
    assert batch["input_ids"].shape == batch["attention_mask"].shape
    rows = [[i for i in row if i != -100] for row in batch["labels"].tolist()]
    assert WORDS.decode(rows) == FRENCH and all(row[-1] == WORDS.end_id for row in rows)


@pytest.mark.parametrize("first", [True, False])
def test_language_tokens_stand_where_the_papers_put_them(first):
    batch = translations(WORDS, TEXTS, FRENCH, "__en__", "__fr__", first)
    for i, text in enumerate(TEXTS):
        ids = batch["input_ids"][i][batch["attention_mask"][i].bool()].tolist()
        labels = batch["labels"][i][batch["labels"][i] != -100].tolist()
        body, said = WORDS.encode([text], specials=False)[0], WORDS.encode([FRENCH[i]], specials=False)[0]
        end = WORDS.end_id
        assert ids == ([EN, *body, end] if first else [*body, end, EN])
        assert labels == ([FR, *said, end] if first else [*said, end, FR])
    with pytest.raises(ValueError, match="no token '__de__'"):
        translations(WORDS, TEXTS, FRENCH, "__en__", "__de__", first)


def test_sentence_pairs_carry_segments_and_a_label():
    made = sentence_order_pairs([TEXTS[:3]], [0.9, 0.1])
    batch = sentence_pairs(WORDS, [(a, b, not swapped) for a, b, swapped in made])
    assert batch["next_sentence_label"].tolist() == [0, 1]
    second = batch["input_ids"][1][batch["token_type_ids"][1] == 1]
    assert WORDS.decode([second.tolist()]) == [TEXTS[1]]


def test_translations_side_by_side():
    batch = parallel_texts(WORDS, TEXTS, FRENCH, 0, 1)
    row = batch["langs"][1][batch["attention_mask"][1].bool()].tolist()
    places = batch["position_ids"][1][batch["attention_mask"][1].bool()].tolist()
    cut = row.index(1)
    assert row == sorted(row) and places == [*range(cut), *range(len(row) - cut)]
    blanked = MaskedLM(WORDS.mask_id, len(WORDS), rate=1.0)(batch, torch.Generator().manual_seed(0))
    assert ((blanked["labels"] == -100) == batch["special_tokens_mask"].bool()).all()
