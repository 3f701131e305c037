"""Logits processors: repetition penalties, minimum lengths, banned and favoured words, forced first and last tokens.

They change the scores of all rows at once. Names and order are those of transformers' `generate`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from tfkit.decode.checks import is_whole, require_number, require_whole

NEVER = -torch.inf
SequenceBias = Mapping[tuple[int, ...], float] | Sequence[Sequence[Any]]


@dataclass(frozen=True, kw_only=True)
class LogitsProcessors:
    """The settings of all processors. The ids that processors read include the prompt (the start token of an
    encoder-decoder, the text of a decoder-only model) but not its padding, which is never generated. Lengths include
    the padding, as in transformers; min_new_tokens does not depend on it.

    encoder_no_repeat_ngram_size, encoder_repetition_penalty: about the source; for a decoder-only model, the prompt.
    sequence_bias: what is added to the score of the last id of a sequence after its others, {(5, 9): -2.0} or, as in
    files, [[[5, 9], -2.0]]. exponential_decay_length_penalty: (start, factor): from that many new tokens on, end tokens
    become likelier. remove_invalid_values: NaN becomes 0, infinity the largest number. renormalize_logits: whether
    scores become log-probabilities again at the end, which only a beam notices.

    Raises ValueError for a penalty that is not positive and for sizes below zero, TypeError for what is no number.
    """

    sequence_bias: SequenceBias = ()
    encoder_repetition_penalty: float = 1.0
    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0
    encoder_no_repeat_ngram_size: int = 0
    bad_words_ids: Sequence[Sequence[int]] = ()
    min_length: int = 0
    min_new_tokens: int = 0
    forced_bos_token_id: int | None = None
    forced_eos_token_id: int | None = None
    remove_invalid_values: bool = False
    exponential_decay_length_penalty: Sequence[float] | None = None
    suppress_tokens: Sequence[int] = ()
    begin_suppress_tokens: Sequence[int] = ()
    renormalize_logits: bool = False

    def __post_init__(self) -> None:
        for name in ("repetition_penalty", "encoder_repetition_penalty"):
            require_number(name, getattr(self, name), above=0, advice="; 1 changes nothing")
        for name in ("no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "min_length", "min_new_tokens"):
            require_whole(name, getattr(self, name))
        object.__setattr__(self, "bad_words_ids", words_of(self.bad_words_ids))
        biases_of(self.sequence_bias)
        if (decay := self.exponential_decay_length_penalty) is not None:
            if isinstance(decay, str) or not isinstance(decay, Sequence) or len(decay) != 2:
                raise TypeError(f"exponential_decay_length_penalty={decay!r}: must be two numbers, (start, factor)")
            require_whole("exponential_decay_length_penalty[0]", decay[0])
            require_number("exponential_decay_length_penalty[1]", decay[1], above=0)

    def bind(
        self, prompt: Tensor, max_new_tokens: int, eos_token_ids: Sequence[int], source: Tensor | None = None
    ) -> BoundLogitsProcessors:
        """The processors for one request: prompts [B,T], the maximum number of new tokens, the ids that end a row, and
        the sources [B,S], padding being -1."""
        return BoundLogitsProcessors(self, prompt, max_new_tokens, eos_token_ids, source)


def words_of(given: Any) -> list[list[int]]:
    """A `bad_words_ids`, a sequence of words or a tensor [M,n] of them, as plain lists. Raises TypeError for anything
    but sequences or tensors of whole numbers, ValueError for an empty word."""
    outer = list_of(given)
    words = None if outer is None else [list_of(word) for word in outer]
    if words is None or any(word is None or not all(map(is_whole, word)) for word in words):
        shown = " ".join(repr(given).split())  # a tensor is shown on several lines
        raise TypeError(f"bad_words_ids={shown}: pass a list of words, each a list of ids")
    if [] in words:
        raise ValueError("bad_words_ids holds an empty word: each is a list of at least one id")
    return [[int(token) for token in word or ()] for word in words]


def list_of(given: Any) -> list[Any] | None:
    """A sequence, an array or a tensor as a list; None for anything else: text, a single number, what has no order, and
    an iterator, which could be read only once."""
    given = given.tolist() if hasattr(given, "tolist") else given
    text = isinstance(given, str | bytes | bytearray)
    return list(given) if isinstance(given, Sequence) and not text else None


def biases_of(given: SequenceBias) -> dict[tuple[int, ...], float]:
    """A sequence_bias in either form -> ids and what is added. Raises TypeError or ValueError for anything else."""
    if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
        raise TypeError(f"sequence_bias={given!r}: give {{(5, 9): -2.0}}, ids and what is added to the last one")
    found: dict[tuple[int, ...], float] = {}
    for pair in given.items() if isinstance(given, Mapping) else given:
        ids, bias = pair if isinstance(pair, list | tuple) and len(pair) == 2 else ((), None)
        if bias is None or not isinstance(ids, list | tuple) or any(type(i) is not int for i in ids):
            raise TypeError(f"sequence_bias holds {pair!r}: give ids and what is added to the last one, [[5, 9], -2.0]")
        if not ids:
            raise ValueError("sequence_bias holds an empty sequence: each has at least one id")
        require_number(f"sequence_bias of {list(ids)}", bias)
        found[tuple(ids)] = float(bias)
    return found


class BoundLogitsProcessors:
    """Logits processors with the lengths of one request, and their ids as tensors on its device."""

    def __init__(
        self,
        settings: LogitsProcessors,
        prompt: Tensor,
        max_new_tokens: int,
        eos_token_ids: Sequence[int],
        source: Tensor | None = None,
    ) -> None:
        as_ids = partial(torch.tensor, dtype=torch.int64, device=prompt.device)
        length = prompt.size(1)
        self.settings, self.last, self.source = settings, length + max_new_tokens - 1, source
        self.shortest = max(settings.min_length, length + settings.min_new_tokens if settings.min_new_tokens else 0)
        self.eos, self.suppressed = as_ids(list(eos_token_ids)), as_ids(list(settings.suppress_tokens))
        self.suppressed_first = as_ids(list(settings.begin_suppress_tokens))
        forced_start = settings.forced_bos_token_id is not None and length == 1
        self.first = length + 1 if forced_start else length  # as in transformers
        words = [list(word) for word in settings.bad_words_ids if list(word) not in [[end] for end in eos_token_ids]]
        self.words = [as_ids([w for w in words if len(w) == n]).view(-1, n) for n in sorted({len(w) for w in words})]
        self.biases = [(as_ids(ids), bias) for ids, bias in biases_of(settings.sequence_bias).items()]
        decay = settings.exponential_decay_length_penalty
        self.decay_start, self.decay = (math.inf, 1.0) if decay is None else (length + decay[0], float(decay[1]))
        self.about_source = (settings.encoder_repetition_penalty != 1, settings.encoder_no_repeat_ngram_size)
        always = (settings.repetition_penalty != 1, settings.no_repeat_ngram_size, words, settings.suppress_tokens)
        final = (settings.remove_invalid_values, settings.renormalize_logits)
        self.always = any((*always, *final, *self.about_source, self.biases))

    def for_row(self, row: int) -> BoundLogitsProcessors:
        """The same processors for a single one of the sentences."""
        one = copy(self)
        one.source = None if self.source is None else self.source[row : row + 1]
        return one

    def is_noop(self, length: int) -> bool:
        """Whether no processor applies to ids of this length."""
        ending = self.settings.forced_eos_token_id is not None and length == self.last
        starting = self.settings.forced_bos_token_id is not None and length == 1
        beginning = len(self.suppressed_first) > 0 and length == self.first
        decaying = length > self.decay_start
        return not (self.always or ending or starting or beginning or decaying or length < self.shortest)

    def __call__(self, ids: Tensor, scores: Tensor) -> Tensor:
        """ids [N,T], left-padded with -1; scores [N,V] of the next token -> scores [N,V], a new tensor"""
        scores = self.shape_ends(self.discourage(ids, scores), ids.size(1))
        return scores.log_softmax(-1) if self.settings.renormalize_logits else scores

    def discourage(self, ids: Tensor, scores: Tensor) -> Tensor:
        """The processors that look at the text: biases, penalties, and bans of words and repetitions."""
        settings, length = self.settings, ids.size(1)
        for sequence, bias in self.biases:
            scores = add_bias(scores, ids, sequence, bias)
        if self.source is not None and settings.encoder_repetition_penalty != 1:
            scores = apply_source_penalty(scores, self.source, settings.encoder_repetition_penalty)
        if settings.repetition_penalty != 1:
            scores = apply_repetition_penalty(scores, ids, settings.repetition_penalty)
        if settings.no_repeat_ngram_size and length + 1 >= settings.no_repeat_ngram_size:
            scores = ban_repeated_ngrams(scores, ids, settings.no_repeat_ngram_size)
        if self.source is not None and length + 1 >= (size := settings.encoder_no_repeat_ngram_size) > 0:
            scores = ban_ngrams_of(self.source, scores, ids, size)
        for words in self.words:
            if length + 1 >= words.size(1):
                scores = ban_words(scores, ids, words)
        return scores

    def shape_ends(self, scores: Tensor, length: int) -> Tensor:
        """The processors that look at the length alone: minimum lengths, forced and suppressed tokens."""
        settings = self.settings
        if length < self.shortest and len(self.eos):
            scores = scores.index_fill(1, self.eos, NEVER)
        if settings.forced_bos_token_id is not None and length == 1:
            scores = force_token(scores, settings.forced_bos_token_id)
        if settings.forced_eos_token_id is not None and length == self.last:
            scores = force_token(scores, settings.forced_eos_token_id)
        if settings.remove_invalid_values:
            scores = scores.nan_to_num(nan=0.0)
        if length > self.decay_start and len(self.eos):
            scores = favour(scores, self.eos, self.decay ** (length - self.decay_start) - 1)
        if len(self.suppressed_first) and length == self.first:
            scores = scores.index_fill(1, self.suppressed_first, NEVER)
        return scores.index_fill(1, self.suppressed, NEVER) if len(self.suppressed) else scores


def add_bias(scores: Tensor, ids: Tensor, sequence: Tensor, bias: float) -> Tensor:
    """sequence [n]: adds the bias to the score of its last id in the rows that end with its others."""
    before = sequence.numel() - 1
    if before > ids.size(1):
        return scores
    matches = (ids[:, ids.size(1) - before :] == sequence[:-1]).all(1)  # [N]
    return scores.index_add(1, sequence[-1:], (matches * bias).to(scores.dtype).unsqueeze(1))


def apply_source_penalty(scores: Tensor, source: Tensor, penalty: float) -> Tensor:
    """source [B,S]: raises the scores of its tokens, against what is not in it (transformers' name for this is a
    penalty, of what a source does not say)."""
    source = source.repeat_interleave(len(scores) // len(source), 0)
    return apply_repetition_penalty(scores, source, 1 / penalty)


def favour(scores: Tensor, tokens: Tensor, share: float) -> Tensor:
    """tokens [n]: adds this share of its absolute value to the score of each, where that is finite."""
    old = scores[:, tokens]
    more = (old.abs() * share).masked_fill(~old.isfinite(), 0.0)
    return scores.index_copy(1, tokens, old + more)


def apply_repetition_penalty(scores: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """Lowers the scores of tokens that are in the text already (Keskar et al. 2019, CTRL, 4.1)."""
    ids = ids.where(ids >= 0, ids.amax(1, keepdim=True))  # padding becomes another token: repeats change nothing
    seen = scores.gather(1, ids)
    return scores.scatter(1, ids, torch.where(seen < 0, seen * penalty, seen / penalty))


def ban(scores: Tensor, tokens: Tensor, banned: Tensor) -> Tensor:
    """scores [N,V], tokens [N,M], banned bool [N,M]; a token that is listed twice is banned if either entry is"""
    values = torch.zeros_like(scores[:, :1]).expand(tokens.shape).masked_fill(~banned, torch.inf)
    return scores.scatter_reduce(1, tokens, values.masked_fill(banned, NEVER), "amin")


def ban_repeated_ngrams(scores: Tensor, ids: Tensor, size: int) -> Tensor:
    """Bans repeated n-grams: tokens that followed an earlier occurrence of the last n - 1 tokens."""
    return ban_ngrams_of(ids, scores, ids, size)


def ban_ngrams_of(text: Tensor, scores: Tensor, ids: Tensor, size: int) -> Tensor:
    """text [B,S], padding being -1: bans its n-grams, tokens that follow the last n - 1 ids of a row in it."""
    text = text.repeat_interleave(len(ids) // len(text), 0)
    grams = text.unfold(1, size, 1) if text.size(1) >= size else text.new_empty(len(text), 0, size)  # [N,M,n]
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
