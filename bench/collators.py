"""The cost of making batches: the objectives of tfkit against transformers' collators, on the same ids, in one process.

transformers has collators for masked and permutation language models; its span corruption and its BART noising are
example scripts outside the package, so those objectives are compared with its masked LM collator, as a yardstick for
how many tokens a second a data loader can deliver.
"""

from __future__ import annotations

import pydoc_data.topics
from collections.abc import Callable
from typing import Any

import torch

from tfkit.objectives import Objective
from tfkit.objectives.denoising import Denoising
from tfkit.objectives.masked_lm import MaskedLM
from tfkit.objectives.permutation_lm import PermutationLM
from tfkit.objectives.span_corruption import SpanCorruption
from tfkit.text import vocabulary
from tfkit.text.vocabulary import Tokenizer, pad

ROWS, LENGTH, SENTINELS = 64, 128, 32


def table(best_times: Callable[..., tuple[float, float]], turns: int) -> str:
    """A Markdown table of ratios, the time of transformers over that of tfkit, with the tokens per second of tfkit."""
    lines = ["| collator | transformers | transformers over tfkit | tokens a second, tfkit |", "|---|---|---|---|"]
    words, rows = vocabulary_and_rows()
    reference = collators(words)
    for name, objective in objectives(words).items():
        other = name if name in reference else "masked LM"
        collator = reference[other]
        transformers_time, tfkit_time = best_times(
            lambda c=collator: c(features(rows)), lambda o=objective: objective_batch(o, rows, words), turns
        )
        tokens = len(rows) * LENGTH / tfkit_time
        note = other if other == name else f"{other}, as a yardstick"
        lines.append(f"| {name} | {note} | {transformers_time / tfkit_time:.1f} | {tokens:,.0f} |")
    return "\n".join(lines)


def vocabulary_and_rows() -> tuple[Tokenizer, list[list[int]]]:
    """A tokenizer and full rows of ids, from the help texts of Python."""
    text = "\n".join(pydoc_data.topics.topics.values())
    extra = [f"<extra_{i}>" for i in reversed(range(SENTINELS))]
    words = vocabulary.train("byte_bpe", text.splitlines(), 2000, extra)
    ids = words.encode([text], specials=False)[0]
    rows = [ids[i : i + LENGTH] for i in range(0, ROWS * LENGTH, LENGTH)]
    if len(rows[-1]) < LENGTH:
        raise ValueError(f"the help texts have {len(ids)} tokens: too few for {ROWS} rows of {LENGTH}")
    return words, rows


def objectives(words: Tokenizer) -> dict[str, Objective]:
    """The objectives of tfkit, by the name of their row."""
    mask, end, fill = words.mask_id or 0, words.end_id or 0, words.pad_id or 0
    return {
        "masked LM": MaskedLM(mask, len(words)),
        "permutation LM": PermutationLM(),
        "span corruption": SpanCorruption(len(words) - 1, end, fill, n_sentinels=SENTINELS),
        "denoising": Denoising(mask, fill),
    }


def objective_batch(objective: Objective, rows: list[list[int]], words: Tokenizer) -> dict[str, torch.Tensor]:
    """Rows of ids -> the objective's batch, as `Collator` makes it after the tokenizer."""
    ids = pad(rows, words.pad_id or 0)
    return objective({"input_ids": ids, "attention_mask": torch.ones_like(ids)})


def collators(words: Tokenizer) -> dict[str, Any]:
    """The collators of transformers, by the name of the objective that does the same."""
    import transformers

    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words.inner, pad_token="<pad>", mask_token="<mask>", eos_token="</s>", unk_token="<unk>"
    )
    return {
        "masked LM": transformers.DataCollatorForLanguageModeling(tokenizer),
        "permutation LM": transformers.DataCollatorForPermutationLanguageModeling(tokenizer),
    }


def features(rows: list[list[int]]) -> list[dict[str, list[int]]]:
    """Rows in the form that these collators take: one dictionary each."""
    return [{"input_ids": list(row), "special_tokens_mask": [0] * len(row)} for row in rows]
