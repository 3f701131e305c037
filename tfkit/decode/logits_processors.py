"""Logits processors: repetition penalties, minimum lengths, banned words, forced first and last tokens.

They change the scores of all rows at once. Names and order are those of transformers' `generate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

NEVER = -torch.inf


@dataclass(frozen=True, kw_only=True)
class LogitsProcessors:
    """The settings of all processors. The ids that processors read include the prompt (the start token of an
    encoder-decoder, the text of a decoder-only model) but not its padding, which is never generated. Lengths include
    the padding, as in transformers; min_new_tokens does not depend on it.

    Raises ValueError for a penalty that is not positive and for sizes below zero.
    """

    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0
    bad_words_ids: Sequence[Sequence[int]] = ()
    min_length: int = 0
    min_new_tokens: int = 0
    forced_bos_token_id: int | None = None
    forced_eos_token_id: int | None = None
    suppress_tokens: Sequence[int] = ()
    begin_suppress_tokens: Sequence[int] = ()

    def __post_init__(self) -> None:
        if self.repetition_penalty <= 0:
            raise ValueError(f"repetition_penalty={self.repetition_penalty}: must be above 0; 1 changes nothing")
        for name in ("no_repeat_ngram_size", "min_length", "min_new_tokens"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}={getattr(self, name)}: must not be below 0")
        if any(isinstance(word, int) for word in self.bad_words_ids):
            raise TypeError("bad_words_ids holds a number: pass a list of words, each a list of ids")
        if any(len(word) == 0 for word in self.bad_words_ids):
            raise ValueError("bad_words_ids holds an empty word: each is a list of at least one id")

    def bind(self, prompt: Tensor, max_new_tokens: int, eos_token_ids: Sequence[int]) -> BoundLogitsProcessors:
        """The processors for one request: prompts [B,T], the maximum number of new tokens, and the ids that end a
        row."""
        return BoundLogitsProcessors(self, prompt, max_new_tokens, eos_token_ids)


class BoundLogitsProcessors:
    """Logits processors with the lengths of one request, and their ids as tensors on its device."""

    def __init__(
        self, settings: LogitsProcessors, prompt: Tensor, max_new_tokens: int, eos_token_ids: Sequence[int]
    ) -> None:
        as_ids = partial(torch.tensor, dtype=torch.int64, device=prompt.device)
        length = prompt.size(1)
        self.settings, self.last = settings, length + max_new_tokens - 1
        self.shortest = max(settings.min_length, length + settings.min_new_tokens if settings.min_new_tokens else 0)
        self.eos, self.suppressed = as_ids(list(eos_token_ids)), as_ids(list(settings.suppress_tokens))
        self.suppressed_first = as_ids(list(settings.begin_suppress_tokens))
        forced_start = settings.forced_bos_token_id is not None and length == 1
        self.first = length + 1 if forced_start else length  # as in transformers
        words = [list(word) for word in settings.bad_words_ids if list(word) not in [[end] for end in eos_token_ids]]
        self.words = [as_ids([w for w in words if len(w) == n]).view(-1, n) for n in sorted({len(w) for w in words})]
        always = (settings.repetition_penalty != 1, settings.no_repeat_ngram_size, words, settings.suppress_tokens)
        self.always = any(always)

    def is_noop(self, length: int) -> bool:
        """Whether no processor applies to ids of this length."""
        ending = self.settings.forced_eos_token_id is not None and length == self.last
        starting = self.settings.forced_bos_token_id is not None and length == 1
        beginning = len(self.suppressed_first) > 0 and length == self.first
        return not (self.always or ending or starting or beginning or length < self.shortest)

    def __call__(self, ids: Tensor, scores: Tensor) -> Tensor:
        """ids [N,T], left-padded with -1; scores [N,V] of the next token -> scores [N,V], a new tensor"""
        settings, length = self.settings, ids.size(1)
        if settings.repetition_penalty != 1:
            scores = apply_repetition_penalty(scores, ids, settings.repetition_penalty)
        if settings.no_repeat_ngram_size and length + 1 >= settings.no_repeat_ngram_size:
            scores = ban_repeated_ngrams(scores, ids, settings.no_repeat_ngram_size)
        for words in self.words:
            if length + 1 >= words.size(1):
                scores = ban_words(scores, ids, words)
        if length < self.shortest and len(self.eos):
            scores = scores.index_fill(1, self.eos, NEVER)
        if settings.forced_bos_token_id is not None and length == 1:
            scores = force_token(scores, settings.forced_bos_token_id)
        if settings.forced_eos_token_id is not None and length == self.last:
            scores = force_token(scores, settings.forced_eos_token_id)
        if len(self.suppressed_first) and length == self.first:
            scores = scores.index_fill(1, self.suppressed_first, NEVER)
        return scores.index_fill(1, self.suppressed, NEVER) if len(self.suppressed) else scores


def apply_repetition_penalty(scores: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """Lowers the scores of tokens that are in the text already (Keskar et al. 2019, CTRL, 4.1)."""
    ids = ids.where(ids >= 0, ids[:, -1:])  # padding becomes the last token, whose repeats change nothing
    seen = scores.gather(1, ids)
    return scores.scatter(1, ids, torch.where(seen < 0, seen * penalty, seen / penalty))


def ban(scores: Tensor, tokens: Tensor, banned: Tensor) -> Tensor:
    """scores [N,V], tokens [N,M], banned bool [N,M]; a token that is listed twice is banned if either entry is"""
    values = torch.zeros_like(scores[:, :1]).expand(tokens.shape).masked_fill(~banned, torch.inf)
    return scores.scatter_reduce(1, tokens, values.masked_fill(banned, NEVER), "amin")


def ban_repeated_ngrams(scores: Tensor, ids: Tensor, size: int) -> Tensor:
    """Bans repeated n-grams: tokens that followed an earlier occurrence of the last n - 1 tokens."""
    grams = ids.unfold(1, size, 1) if ids.size(1) >= size else ids.new_empty(len(ids), 0, size)  # [N,M,n]
    recent = ids[:, ids.size(1) + 1 - size :].unsqueeze(1)  # [N,1,n-1]
    repeated = (grams[..., :-1] == recent).all(-1) & (grams >= 0).all(-1)
    return ban(scores, grams[..., -1].clamp(min=0), repeated)


def ban_words(scores: Tensor, ids: Tensor, words: Tensor) -> Tensor:
    """words [M,n]: bans the last token of each if its first n - 1 tokens have just been generated."""
    recent = ids[:, ids.size(1) + 1 - words.size(1) :].unsqueeze(1)  # [N,1,n-1]
    return ban(scores, words[:, -1].expand(len(ids), -1), (recent == words[:, :-1]).all(-1))


def force_token(scores: Tensor, token: int) -> Tensor:
    """scores [N,V] -> the same shape: 0 for `token`, -inf for every other"""
    return torch.full_like(scores, NEVER).index_fill(1, torch.tensor([token], device=scores.device), 0.0)
