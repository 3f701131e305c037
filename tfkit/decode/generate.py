"""`generate`: ids in, ids out, for any model, in batches and with caches.

A call passes through few files: `settings` (what the model's own files say), `prompts` (ids as a tensor, special
tokens), `search` (the `GenerationRequest` that `request_for` below makes of these, and the loop over new tokens) and
`decoders` (how a model is called, with its cache). `logits_processors`, `compiled` and the files of the other
strategies are used only if a call asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeGuard, overload

import torch
from torch import Tensor, nn

from tfkit.decode import settings as defaults
from tfkit.decode.compiled import Backend, backend_of
from tfkit.decode.decoders import cross_attention_inputs, is_tfkit_model, require_lm_head
from tfkit.decode.prompts import Ids, Rows, prompts, read_source, require_known_ids, special_ids
from tfkit.decode.search import GenerationRequest, SingleSequence, Step, Strategy


@overload
def generate(
    model: Any, input_ids: Rows = None, strategy: Strategy | None = None, *, trace: Literal[True], **given: Any
) -> tuple[Tensor, list[Step]]: ...
@overload
def generate(
    model: Any, input_ids: Rows = None, strategy: Strategy | None = None, *, trace: Literal[False] = False, **given: Any
) -> Tensor: ...
def generate(
    model: Any,
    input_ids: Rows = None,
    strategy: Strategy | None = None,
    *,
    max_new_tokens: int | None = None,
    attention_mask: Rows = None,
    start_id: int | None = None,
    end_id: Ids = None,
    pad_id: int | None = None,
    prefix: Ids | Tensor = None,
    num_return_sequences: int | None = None,
    generator: torch.Generator | None = None,
    static_cache: bool = False,
    compile: bool | Backend = False,
    trace: bool = False,
    **given: Any,
) -> Tensor | tuple[Tensor, list[Step]]:
    """The best continuation of each sentence, ids [B·R,T]: start token or prompt, new tokens, end token, padding.

    `model`: a tfkit encoder-decoder or decoder-only model (special tokens come from its config; it decodes with a
    cache), or one with `encode(src)` and `decode(tgt_in, memory, src)`, or `step(prefix [N,t]) -> logits [N,V]` (give
    start_id and end_id). input_ids: the sources or, for a decoder-only model, the prompts: [B,S] with attention_mask,
    or lists of unequal length; prompts are returned padded on the left. For a model that reads audio they are its
    features [B,M,F], which may also be given as input_features.
    end_id: one or several; -1: none. prefix: tokens that come first, after the start or before the prompt (a language
    code, a control code), for all rows or [B,n]. num_return_sequences: R, how many of a beam's hypotheses are returned,
    best first. static_cache: whether the cache has a fixed size, as compilers need. compile: whether the steps after
    the prompt run as one compiled graph on such a cache; compiling takes a while at the first step, and later calls
    reuse the graph (True: torch's own compiler; or the name of another backend of torch.compile, such as "eager").
    given: settings of `LogitsProcessors`; max_length, which counts the prompt too; in place of a strategy,
    transformers' arguments (num_beams, length_penalty, do_sample, top_p …); and, for a decoder-only model with
    cross-attention, encoder_hidden_states [B,S,E] and encoder_attention_mask [B,S].

    Defaults are those of `model.generation_config`, read from the model's files; without it, greedy search and up to 64
    new tokens. `trace=True` returns (ids, list of Step). Raises TypeError for a model that it cannot decode with, an
    unknown setting or invalid ids, ValueError for a missing id or one outside the vocabulary.
    """
    steps: list[Step] = []
    with evaluating(model):
        strategy, request = request_for(
            model, input_ids, strategy, max_new_tokens=max_new_tokens, attention_mask=attention_mask, start_id=start_id,
            end_id=end_id, pad_id=pad_id, prefix=prefix, num_return_sequences=num_return_sequences,
            generator=generator, static_cache=static_cache, compile=compile, **given,
        )  # fmt: skip
        request.on_step = steps.append if trace else None
        ids = strategy.run(request)
    ids = ids.clone()
    return (ids, steps) if trace else ids


def stream(model: Any, input_ids: Rows = None, strategy: Strategy | None = None, **kwargs: Any) -> Iterator[Tensor]:
    """Yields the new tokens that `generate` would append, as they are found, as pieces int64 [B,n].

    A piece is one token if tokens are final when they are chosen (greedy search, sampling); beam search and other
    strategies that revise tokens yield a single piece at the end. kwargs: as in `generate`. Errors are raised when the
    first piece is requested.
    """
    with evaluating(model):
        strategy, request = request_for(model, input_ids, strategy, **kwargs)
        if is_final(strategy):
            pieces = strategy.stream(request)
        else:
            pieces = iter([strategy.run(request)[:, request.prompt.size(1) :]])
    while True:
        with evaluating(model):  # but not while the caller works on a piece
            piece = next(pieces, None)
        if piece is None:
            return
        yield piece.clone()


def is_final(strategy: Any) -> TypeGuard[SingleSequence]:
    """Whether a strategy never revises a token."""
    return isinstance(strategy, SingleSequence) and type(strategy).run is SingleSequence.run


def request_for(
    model: Any,
    input_ids: Rows = None,
    strategy: Strategy | None = None,
    *,
    max_new_tokens: int | None = None,
    attention_mask: Rows = None,
    start_id: int | None = None,
    end_id: Ids = None,
    pad_id: int | None = None,
    prefix: Ids | Tensor = None,
    num_return_sequences: int | None = None,
    generator: torch.Generator | None = None,
    static_cache: bool = False,
    compile: bool | Backend = False,
    input_features: Tensor | None = None,
    **given: Any,
) -> tuple[Strategy, GenerationRequest]:
    """The strategy and the request for a call of `generate`; both this and the run belong inside `evaluating`."""
    require_lm_head(model)
    cross_inputs = cross_attention_inputs(model, given)
    check_names(strategy, given)
    backend = None if compile is False else backend_of(compile)
    settings = {**defaults.of(model), **given}
    defaults.warn_of_unknown(settings)
    if strategy is None:
        strategy, own = defaults.strategy_of(settings), settings.get("num_return_sequences") or 1
        num_return_sequences = own if num_return_sequences is None else num_return_sequences
    num_return_sequences = 1 if num_return_sequences is None else num_return_sequences
    if not 1 <= num_return_sequences <= strategy.width:
        room = f"{type(strategy).__name__} keeps {strategy.width} of a sentence"
        raise ValueError(f"num_return_sequences={num_return_sequences}: {room}")
    start, eos, pad = special_ids(model, settings, start_id, end_id, pad_id)
    source, mask = read_source(model, input_ids, input_features, attention_mask, pad)
    prompt, mask = prompts(model, source, mask, start, (pad, eos), prefix)
    check_generator(generator, prompt.device)
    limit = new_tokens(prompt, max_new_tokens, given.get("max_length"), settings)
    processors = defaults.processors_of(model, settings, given)
    require_known_ids(model, given)
    return strategy, GenerationRequest(
        model=model, prompt=prompt, max_new_tokens=limit, source=source, attention_mask=mask, eos_token_ids=eos,
        pad_token_id=pad, processors=None if processors is None else processors.bind(prompt, limit, eos),
        num_return_sequences=num_return_sequences, generator=generator, static_cache=static_cache,
        compile_backend=backend, cross_attention_inputs=cross_inputs,
    )  # fmt: skip


def check_names(strategy: Any, given: dict[str, Any]) -> None:
    """Raises TypeError for an invalid strategy, an unknown setting, or settings of a search beside a strategy."""
    if isinstance(strategy, type) or not (strategy is None or hasattr(strategy, "run")):
        shown = strategy.__name__ if isinstance(strategy, type) else repr(strategy)
        raise TypeError(f"strategy={shown}: give an instance of a strategy, such as tfkit.decode.Beam(4)")
    known = (*defaults.PROCESSORS, "max_length", *defaults.SEARCH)
    if unknown := [name for name in given if name not in known]:
        raise TypeError(f"generate has no setting {unknown[0]!r}; available: {', '.join(known)}")
    if strategy is not None and (duplicates := [name for name in given if name in defaults.SEARCH]):
        raise TypeError(f"{duplicates[0]} describes a search, and so does strategy: pass only one of them")


def check_generator(generator: Any, device: torch.device) -> None:
    """Raises TypeError for something other than a generator or None, ValueError for one of another device than the
    ids."""
    if generator is None:
        return
    if not isinstance(generator, torch.Generator):
        raise TypeError(f"generator={generator!r}: give a torch.Generator, such as torch.Generator().manual_seed(0)")
    if generator.device.type != device.type:
        raise ValueError(
            f"the generator is one for {generator.device.type}, the ids are on {device.type}: "
            f'give torch.Generator("{device.type}")'
        )


def new_tokens(prompt: Tensor, max_new_tokens: int | None, max_length: int | None, settings: dict[str, Any]) -> int:
    """The maximum number of new tokens after prompts [B,t]. max_length: of prompt and new tokens together; if neither
    it nor `max_new_tokens` is given, the settings decide. Raises TypeError for a limit that is not an integer,
    ValueError if the prompt is longer than max_length."""
    if max_length is None and max_new_tokens is None:
        max_new_tokens = settings.get("max_new_tokens")
        max_length = settings.get("max_length") if max_new_tokens is None else None
    for name, value in (("max_new_tokens", max_new_tokens), ("max_length", max_length)):
        if value is not None and not isinstance(value, int):
            raise TypeError(f"{name}={value!r}: must be a whole number of tokens")
    limit = (64 if max_new_tokens is None else max_new_tokens) if max_length is None else max_length - prompt.size(1)
    if limit < 0 and max_length is not None:
        raise ValueError(f"max_length={max_length}: the prompt alone has {prompt.size(1)} tokens")
    if limit < 0:
        raise ValueError(f"max_new_tokens={limit}: must not be negative")
    return limit


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """A context without dropout and gradients; the model's mode is restored afterwards.

    tfkit models run in inference mode, which is a fifth faster for small steps. Inference tensors cannot be used in
    training, so results must be cloned outside. Other models may store tensors on themselves and run under no_grad."""
    was = model.training if isinstance(model, nn.Module) else False
    if was:
        model.eval()
    try:
        with torch.inference_mode() if is_tfkit_model(model) else torch.no_grad():
            yield
    finally:
        if was:
            model.train()
