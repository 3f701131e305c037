"""Collates text into training batches: padded, with the ids, languages, segments and labels that a model needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tfkit.objectives import Objective
from tfkit.objectives.translation_lm import translation_lm_inputs
from tfkit.text.vocabulary import Tokenizer, pad

Batch = dict[str, Tensor]


@dataclass
class Collator:
    """Texts -> the objective's batch, padded to the longest and cut to `length`, for a `DataLoader`'s collate_fn.

    generator: source of the objective's random numbers; None: torch's global one, which a DataLoader seeds per worker.
    """

    tokenizer: Tokenizer
    objective: Objective
    length: int | None = None
    generator: torch.Generator | None = None

    def __call__(self, texts: Sequence[str]) -> Batch:
        batch = self.tokenizer.batch(texts, length=self.length, return_special_tokens_mask=True)
        batch = self.objective(batch, self.generator)
        return {name: value for name, value in batch.items() if name != "special_tokens_mask"}


def text_pairs(
    tokenizer: Tokenizer, sources: Sequence[str], targets: Sequence[str], length: int | None = None
) -> Batch:
    """Sequence to sequence: input_ids, attention_mask [B,S] and labels [B,T], padded with -100. Task prefixes are part
    of the text: see `tfkit.objectives.text_to_text`."""
    read, write = tokenizer.batch(sources, length=length), tokenizer.batch(targets, length=length)
    labels = write["input_ids"].masked_fill(write["attention_mask"] == 0, -100)
    return {"input_ids": read["input_ids"], "attention_mask": read["attention_mask"], "labels": labels}


def translations(
    tokenizer: Tokenizer, sources: Sequence[str], targets: Sequence[str], source: str, target: str, code_first: bool
) -> Batch:
    """The same as `text_pairs` between two languages, named by their tokens ("en_XX", "__fr__").

    code_first: M2M-100 (Fan et al. 2021, arXiv:2010.11125) and mBART-50 write "code text </s>"; mBART (Liu et al. 2020,
    arXiv:2001.08210) writes "text </s> code". Raises ValueError for a token that the vocabulary does not have.
    """
    rows = [_with_code(tokenizer, texts, code, code_first) for texts, code in ((sources, source), (targets, target))]
    ids, labels = pad(rows[0], tokenizer.pad_id or 0), pad(rows[1], -100)
    return {"input_ids": ids, "attention_mask": pad([[1] * len(row) for row in rows[0]], 0), "labels": labels}


def _with_code(tokenizer: Tokenizer, texts: Sequence[str], code: str, first: bool) -> list[list[int]]:
    lang, end = tokenizer.inner.token_to_id(code), tokenizer.end_id
    if lang is None or end is None:
        raise ValueError(f"the vocabulary has no token {code if lang is None else '</s>'!r}")
    rows = tokenizer.encode(texts, specials=False)
    return [[lang, *row, end] if first else [*row, end, lang] for row in rows]


def sentence_pairs(tokenizer: Tokenizer, pairs: Sequence[tuple[str, str, bool]], length: int | None = None) -> Batch:
    """BERT's batch from the pairs of `next_sentence_pairs` or `sentence_order_pairs`, with `next_sentence_label` [B].

    As in the published models, label 0 means that the second sentence follows the first: pass is_next, or `not
    swapped`.
    """
    firsts, seconds = [a for a, _, _ in pairs], [b for _, b, _ in pairs]
    label = torch.tensor([0 if right else 1 for _, _, right in pairs])
    batch = tokenizer.batch(firsts, seconds, length, return_special_tokens_mask=True)
    return {**batch, "next_sentence_label": label}


def parallel_texts(
    tokenizer: Tokenizer, sources: Sequence[str], targets: Sequence[str], source_lang: int, target_lang: int
) -> Batch:
    """A sentence and its translation in one row, for XLM's translation language modelling: input_ids, position_ids,
    langs, attention_mask, special_tokens_mask [B,L]; mask words with `MaskedLM`."""
    end = tokenizer.end_id or 0
    both = zip(tokenizer.encode(sources, specials=False), tokenizer.encode(targets, specials=False), strict=True)
    rows = [translation_lm_inputs(a, b, source_lang, target_lang, end) for a, b in both]
    ids = pad([row[0] for row in rows], tokenizer.pad_id or 0)
    mask = pad([[1] * len(row[0]) for row in rows], 0)
    position_ids, langs = pad([row[1] for row in rows], 0), pad([row[2] for row in rows], 0)
    special = ((ids == end) | (mask == 0)).long()
    given = {"input_ids": ids, "attention_mask": mask, "special_tokens_mask": special}
    return {**given, "position_ids": position_ids, "langs": langs}
