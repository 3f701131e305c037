"""The settings of `generate` as types, so that editors complete them and type checkers know them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypedDict

import torch
from torch import Tensor

Ids: TypeAlias = int | Sequence[int] | None
Rows: TypeAlias = Tensor | Sequence[Sequence[int]] | None


class Settings(TypedDict, total=False):
    """The settings of `generate` that are no arguments of its own: transformers' names, for what they mean there."""

    # in place of a strategy, each as in transformers
    num_beams: int
    num_beam_groups: int
    diversity_penalty: float
    length_penalty: float
    early_stopping: bool | str
    do_sample: bool
    temperature: float
    top_k: int | None
    top_p: float | None
    min_p: float | None
    typical_p: float | None
    epsilon_cutoff: float | None
    eta_cutoff: float | None
    penalty_alpha: float
    # logits processors: `decode.LogitsProcessors`
    sequence_bias: Mapping[tuple[int, ...], float] | Sequence[Sequence[Any]] | None
    repetition_penalty: float
    encoder_repetition_penalty: float
    no_repeat_ngram_size: int
    encoder_no_repeat_ngram_size: int
    bad_words_ids: Rows
    min_length: int
    min_new_tokens: int | None
    forced_bos_token_id: int | None
    forced_eos_token_id: int | None
    remove_invalid_values: bool
    exponential_decay_length_penalty: Sequence[float] | None
    suppress_tokens: Sequence[int] | None
    begin_suppress_tokens: Sequence[int] | None
    renormalize_logits: bool
    # the end of a text, and its special tokens: max_length counts the prompt too and gives way to max_new_tokens; with
    # the tokenizer, a row ends after the token that completes one of the stop_strings; transformers' names of tokens
    # stand for start_id, end_id and pad_id
    max_length: int | None
    stop_strings: str | Sequence[str] | None
    bos_token_id: int | None
    decoder_start_token_id: int | None
    eos_token_id: Ids
    pad_token_id: int | None
    # a second reading after another prompt [B,n]: `decode.guidance.Guidance`
    guidance_scale: float | None
    negative_prompt_ids: Rows
    negative_prompt_attention_mask: Rows
    # further inputs: audio features [B,M,F]; [B,S,E] and [B,S] for a decoder-only model with cross-attention
    input_features: Tensor | None
    encoder_hidden_states: Tensor | None
    encoder_attention_mask: Tensor | None
    tokenizer: Any


class SingleResult(Settings, total=False):
    """The arguments of `generate` but for the model, the ids, the strategy, and what changes the kind of result.

    start_id, end_id, pad_id: by default those of the model's config; end_id: one or several, -1: none. prefix: tokens
    that come first, after the start or before the prompt (a language code, a control code), for all rows or [B,n].
    generator, or the seed of a new one: what samples are drawn with; by default torch's own. static_cache: whether the
    cache has a fixed size, as compilers need. compile: whether the steps after the prompt run as one compiled graph on
    such a cache; compiling takes a while at the first step, and later calls reuse the graph (True: torch's own
    compiler, with products of its own for single rows, see `decode.single_row`; or the name of another backend of
    torch.compile, such as "eager").
    """

    max_new_tokens: int | None
    attention_mask: Rows
    start_id: int | None
    end_id: Ids
    pad_id: int | None
    prefix: Ids | Tensor
    generator: torch.Generator | None
    seed: int | None
    static_cache: bool
    compile: bool | str | Callable[..., Any]


class Arguments(SingleResult, total=False):
    """The arguments of `generate` but for the model, the ids, the strategy and `trace`.

    num_return_sequences: how many of a beam's hypotheses are returned, best first, or how many times each sentence is
    sampled: R in the result's shape [B·R,T].
    """

    num_return_sequences: int | None
