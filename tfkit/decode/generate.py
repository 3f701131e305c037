"""`generate`: ids in, ids out, for any model, in batches and with caches.

A call passes through few files. Here its arguments are read: `request_for` makes the `GenerationRequest` of them, with
the prompts as one tensor and the special tokens. `settings` has what the model's own files say, `search` the request
and the loop over new tokens, `decoders` how a model is called, with its cache. `logits_processors`, `compiled` and the
files of the other strategies are used only if a call asks for them.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, Unpack, overload

import torch
from torch import Tensor, nn

from tfkit.decode import settings as defaults
from tfkit.decode.checks import require_number, require_whole
from tfkit.decode.compiled import Backend, backend_of
from tfkit.decode.decoders import (
    cross_attention_inputs,
    is_causal,
    is_tfkit_model,
    reads_features,
    require_lm_head,
    source_of,
)
from tfkit.decode.guidance import Guidance
from tfkit.decode.logits_processors import BoundLogitsProcessors, LogitsProcessors, biases_of, words_of
from tfkit.decode.search import GenerationRequest, SingleSequence, Step, Strategy
from tfkit.options import Arguments, Ids, Rows, Settings

if TYPE_CHECKING:
    from tfkit.decode.stop_strings import StopStrings

NAMED_IDS = ("forced_bos_token_id", "forced_eos_token_id", "suppress_tokens", "begin_suppress_tokens")
NEW_TOKENS = 64  # where nothing says how many


@overload
def generate(
    model: Any,
    input_ids: Rows = None,
    strategy: Strategy | None = None,
    *,
    trace: Literal[True],
    **kwargs: Unpack[Arguments],
) -> tuple[Tensor, list[Step]]: ...
@overload
def generate(
    model: Any,
    input_ids: Rows = None,
    strategy: Strategy | None = None,
    *,
    trace: Literal[False] = False,
    **kwargs: Unpack[Arguments],
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
    seed: int | None = None,
    static_cache: bool = False,
    compile: bool | Backend = False,
    trace: bool = False,
    **kwargs: Unpack[Settings],
) -> Tensor | tuple[Tensor, list[Step]]:
    """The best continuation of each sentence, ids [B·R,T]: start token or prompt, new tokens, end token, padding.

    `model`: a tfkit encoder-decoder or decoder-only model, or one with `encode(src)` and `decode(tgt_in, memory, src)`,
    or `step(prefix [N,t]) -> logits [N,V]` (give start_id and end_id). input_ids: the sources or, for a decoder-only
    model, the prompts, [B,S] with attention_mask or lists of unequal length, which are padded on the left; of audio the
    features [B,M,F], also as input_features. What the other arguments mean, and the settings in `kwargs`, is said in
    `options.Arguments`. Defaults are those of `model.generation_config`, read from the model's files; without it,
    greedy search and up to 64 new tokens, or as many as the model has positions for. trace: returns (ids, list of
    Step). What a step of one row in bfloat16 does to oneDNN meanwhile: `nn.onednn`.

    Warns of settings that have no effect, such as a temperature without do_sample=True. Raises TypeError for a model
    that it cannot decode with, an unknown setting or invalid ids, ValueError for a missing id, one outside the
    vocabulary, or a prompt with no position left after it.
    """
    steps: list[Step] = []
    with evaluating(model):
        strategy, request = request_for(
            model, input_ids, strategy, max_new_tokens=max_new_tokens, attention_mask=attention_mask, start_id=start_id,
            end_id=end_id, pad_id=pad_id, prefix=prefix, num_return_sequences=num_return_sequences,
            generator=generator, seed=seed, static_cache=static_cache, compile=compile, **kwargs,
        )  # fmt: skip
        ids = strategy.run(replace(request, on_step=steps.append) if trace else request)
    ids = ids.clone()
    return (ids, steps) if trace else ids


def stream(
    model: Any, input_ids: Rows = None, strategy: Strategy | None = None, **kwargs: Unpack[Arguments]
) -> Iterator[Tensor]:
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


def request_for(
    model: Any, input_ids: Rows = None, strategy: Strategy | None = None, *, max_new_tokens: int | None = None,
    attention_mask: Rows = None, start_id: int | None = None, end_id: Ids = None, pad_id: int | None = None,
    prefix: Ids | Tensor = None, num_return_sequences: int | None = None, generator: torch.Generator | None = None,
    seed: int | None = None, static_cache: bool = False, compile: bool | Backend = False,
    input_features: Tensor | None = None, tokenizer: Any = None, negative_prompt_ids: Rows = None,
    negative_prompt_attention_mask: Rows = None, **kwargs: Any,
) -> tuple[Strategy, GenerationRequest]:  # fmt: skip
    """The strategy and the request for a call of `generate`; both this and the run belong inside `evaluating`."""
    require_lm_head(model)
    named = pop_special_token_ids(kwargs, {"start_id": start_id, "end_id": end_id, "pad_id": pad_id})
    cross_inputs = cross_attention_inputs(model, kwargs)
    check_names(strategy, kwargs)
    backend = None if compile is False else backend_of(compile)
    settings = {**defaults.of(model), **kwargs}
    defaults.refuse_unknown(settings)
    if strategy is None:
        defaults.warn_of_unused(kwargs, settings)
    strategy, returned, runs = strategy_for(strategy, settings, num_return_sequences)
    start, eos, pad = special_ids(model, settings, named["start_id"], named["end_id"], named["pad_id"])
    source, mask = read_source(model, input_ids, input_features, attention_mask, pad)
    prompt, mask = prepare_prompts(model, source, mask, start, (pad, eos), prefix)
    negative = to_padded_rows(negative_prompt_ids, negative_prompt_attention_mask, pad, model, "negative_prompt_")
    guidance = guidance_of(model, settings.get("guidance_scale"), *negative, len(prompt), (pad, eos))
    limit = new_tokens(prompt, max_new_tokens, kwargs.get("max_length"), settings)
    longest = max(prompt.size(1), 0 if guidance is None else guidance.length())
    limit = fit_positions(model, longest, limit, {"max_new_tokens": max_new_tokens} | kwargs)
    prompt, source, mask, guidance = (repeat_rows(rows, runs) for rows in (prompt, source, mask, guidance))
    cross_inputs = {name: repeat_rows(rows, runs) for name, rows in cross_inputs.items()}
    processors = defaults.processors_of(model, settings, kwargs)
    require_known_ids(model, kwargs)
    request = GenerationRequest(
        model=model, prompt=prompt, max_new_tokens=limit, source=source, attention_mask=mask, eos_token_ids=eos,
        stop_strings=stop_strings_of(settings, tokenizer), pad_token_id=pad, guidance=guidance,
        num_return_sequences=returned, generator=generator_for(generator, seed, prompt.device),
        static_cache=static_cache, compile_backend=backend, cross_attention_inputs=cross_inputs,
    )  # fmt: skip
    return strategy, request if processors is None else replace(request, processors=bind(processors, request))


def strategy_for(
    strategy: Strategy | None, settings: Mapping[str, Any], num_return_sequences: int | None
) -> tuple[Strategy, int, int]:
    """The given strategy or, without one, that of the settings; with what `returned_sequences` gives for it."""
    if strategy is None:
        strategy = defaults.strategy_of(settings)
        if num_return_sequences is None:
            num_return_sequences = settings.get("num_return_sequences")
    return strategy, *returned_sequences(strategy, num_return_sequences)


def check_arguments(model: Any, strategy: Strategy | None, given: Mapping[str, Any]) -> None:
    """Raises what `request_for` does for a strategy or settings that cannot be followed, whatever the ids: for a call
    without any. given: the arguments by name; those that have a row for each sentence are not looked at."""
    require_lm_head(model)
    own = inspect.signature(request_for).parameters.keys() - {"model", "input_ids", "strategy", "kwargs"}
    kwargs = {name: value for name, value in given.items() if name not in own}
    named = pop_special_token_ids(kwargs, {name: given.get(name) for name in ("start_id", "end_id", "pad_id")})
    cross_attention_inputs(model, kwargs)
    check_names(strategy, kwargs)
    if (backend := given.get("compile", False)) is not False:
        backend_of(backend)
    settings = {**defaults.of(model), **kwargs}
    defaults.refuse_unknown(settings)
    strategy_for(strategy, settings, given.get("num_return_sequences"))
    special_ids(model, settings, named["start_id"], named["end_id"], named["pad_id"])
    new_tokens(torch.empty(0, 0), given.get("max_new_tokens"), kwargs.get("max_length"), settings)
    defaults.processors_of(model, settings, kwargs)
    require_known_ids(model, kwargs)
    stop_strings_of(settings, given.get("tokenizer"))
    generator_for(given.get("generator"), given.get("seed"), next(model.parameters()).device)


def bind(processors: LogitsProcessors, request: GenerationRequest) -> BoundLogitsProcessors:
    """The logits processors for a request; the source of a decoder-only model is its prompt, as in transformers."""
    source: Tensor | None = request.mark_prompt_padding(request.prompt)
    if not is_causal(request.model):
        source = None if request.source is None or request.source.is_floating_point() else request.source
        if source is not None and request.attention_mask is not None:
            source = source.masked_fill(~request.attention_mask, -1)
    return processors.bind(request.prompt, request.max_new_tokens, request.eos_token_ids, source)


def guidance_of(
    model: Any, scale: Any, ids: Tensor | None, mask: Tensor | None, rows: int, special: tuple[int, Sequence[int]]
) -> Guidance | None:
    """The guidance that a scale and negative prompts [B,n] or [1,n] ask for; special: padding and end ids. Raises
    ValueError for negative prompts without a scale or in another number than the prompts, and for an encoder-decoder,
    whose prompt is no text that could be left out."""
    if scale is None or scale == 1:
        if ids is not None:
            raise ValueError(f"negative_prompt_ids has no effect with guidance_scale={scale}: give one above 1")
        return None
    require_number("guidance_scale", scale)
    if not is_causal(model):
        raise ValueError(f"guidance_scale={scale}: needs a decoder-only model, and {type(model).__name__} is none")
    if ids is None:
        return Guidance(scale)
    if len(ids) not in (1, rows):
        raise ValueError(f"negative_prompt_ids has {len(ids)} rows, input_ids has {rows}: give one for each, or one")
    ids, mask = move_padding_left(ids, mask, *special)
    return Guidance(scale, ids.expand(rows, -1), None if mask is None else mask.expand(rows, -1))


def stop_strings_of(settings: Mapping[str, Any], tokenizer: Any) -> StopStrings | None:
    """The test for the stop strings of the settings, or None if they name none."""
    if (strings := settings.get("stop_strings")) in (None, [], ()):
        return None
    from tfkit.decode.stop_strings import StopStrings  # which needs the library of tokenizers

    return StopStrings(strings, tokenizer)


TOKEN_NAMES = {  # transformers' names of arguments of `generate`
    "bos_token_id": "start_id", "decoder_start_token_id": "start_id", "eos_token_id": "end_id",
    "pad_token_id": "pad_id",
}  # fmt: skip


def pop_special_token_ids(kwargs: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Takes the special tokens under transformers' names out of `kwargs` -> start_id, end_id and pad_id. Raises
    TypeError if one is given under two names."""
    named = dict(given)
    for name in TOKEN_NAMES.keys() & kwargs.keys():
        if named[TOKEN_NAMES[name]] is not None:
            raise TypeError(f"{name} and {TOKEN_NAMES[name]} are the same token: pass only one of them")
        named[TOKEN_NAMES[name]] = kwargs.pop(name)
    return named


def returned_sequences(strategy: Strategy, count: int | None) -> tuple[int, int]:
    """How many of a sentence's hypotheses are returned, and how many runs each sentence has, for num_return_sequences;
    None: one. Sampling is repeated, other strategies return several of the hypotheses that they keep. Raises
    ValueError for a number that is not positive, or more than the strategy keeps."""
    count = 1 if count is None else count
    if getattr(strategy, "samples", False) and count >= 1:
        return 1, count
    if not 1 <= count <= strategy.width:
        most = f"must be from 1 to {strategy.width}, the hypotheses that {type(strategy).__name__} keeps per sentence"
        raise ValueError(f"num_return_sequences={count}: {most}")
    return count, 1


def repeat_rows(rows: Any, count: int) -> Any:
    """Each row `count` times, the copies of a row together: [B,...] -> [B·count,...]; None stays None"""
    if isinstance(rows, Guidance):
        return replace(rows, ids=repeat_rows(rows.ids, count), mask=repeat_rows(rows.mask, count))
    return rows if rows is None or count == 1 else rows.repeat_interleave(count, 0)


def read_source(model: Any, ids: Any, features: Any, mask: Rows, pad: int) -> tuple[Tensor | None, Tensor | None]:
    """The source of a call of `generate`: ids and their mask, as from `to_padded_rows`; or features, under either name,
    in the form that the model takes, without a mask. Raises ValueError or TypeError for invalid input."""
    if not reads_features(model):
        if features is not None:
            raise TypeError(f"input_features: {type(model).__name__} reads {source_of(model)}")
        return to_padded_rows(ids, mask, pad, model)
    if ids is not None and features is not None:
        raise ValueError("input_ids and input_features are the same source: pass only one of them")
    given: Tensor = model.check_source(ids if features is None else features)
    return given, None


def to_padded_rows(
    rows: Rows, mask: Rows, pad: int, model: Any, prefix: str = ""
) -> tuple[Tensor | None, Tensor | None]:
    """Ids [B,L], as a tensor or an array, or lists of unequal length -> int64 [B,L] and the mask, bool [B,L], if it is
    known. prefix: of the arguments' names, "negative_prompt_". Raises TypeError for text, ValueError for an empty
    sentence or a mask of another shape."""
    name = f"{prefix or 'input_'}ids"
    if rows is None:
        return None, None
    mask = None if mask is None else torch.as_tensor(mask)
    if not isinstance(rows, Tensor):
        device = next(model.parameters()).device if isinstance(model, torch.nn.Module) else None
        rows, own = stack_rows(rows, pad, name)
        mask = own if mask is None else mask
        rows, mask = rows.to(device), mask.to(device)
    if rows.dim() != 2 or rows.is_floating_point() or rows.dtype == torch.bool:
        raise ValueError(f"{name} must be integers [B,L]; got {rows.dtype} {list(rows.shape)}")
    if mask is not None and mask.shape != rows.shape:
        raise ValueError(f"{prefix}attention_mask has shape {list(mask.shape)}, {name} has {list(rows.shape)}")
    return rows.long(), None if mask is None else mask.bool()


def stack_rows(rows: Any, pad: int, name: str) -> tuple[Tensor, Tensor]:
    """Rows of ids of unequal length -> int64 [B,L], padded on the right, and the mask of the tokens, bool [B,L]. name:
    of the argument."""
    if not isinstance(rows, Sequence) and not hasattr(rows, "__array__"):
        raise TypeError(f"{name} is of type {type(rows).__name__}: give ids, a tensor [B,L] or lists of them")
    if isinstance(rows, str) or any(isinstance(row, str) for row in rows):
        raise TypeError(f"{name} holds text, and a model reads ids: encode it first, tokenizer.encode([text])")
    if len(rows) and not hasattr(rows[0], "__len__"):
        raise ValueError(f"{name} must be rows of ids, one for each sentence: for a single row write [ids]")
    lists = [row.tolist() if hasattr(row, "tolist") else list(row) for row in rows]
    if not lists:
        raise ValueError(f"{name} is empty: give at least one row")
    if not all(lists):
        raise ValueError(f"{name} holds an empty sentence: each needs at least one id")
    if any(type(i) is not int for row in lists for i in row):
        raise TypeError(f"{name} must be integers: rows of the ids that a tokenizer gives")
    longest = max(map(len, lists))
    mask = torch.tensor([[i < len(row) for i in range(longest)] for row in lists])
    return torch.tensor([[*row, *[pad] * (longest - len(row))] for row in lists]), mask


def prepare_prompts(
    model: Any, source: Tensor | None, mask: Tensor | None, start: int | None, special: tuple[int, Sequence[int]],
    prefix: Ids | Tensor,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """The first input of the decoder, int64 [B,t], and the mask: of the source or, for a decoder-only model, of the
    prompt.

    source: its rows are counted or, for a decoder-only model, are the prompts; special: padding and end ids. Raises
    ValueError if there is no token to start from.
    """
    if is_causal(model) and source is not None:
        ids, mask = move_padding_left(source, mask, *special)
        before = prefix_ids(prefix, ids)
        if mask is not None and before.size(1):  # all rows have the codes: they are put before the padding
            mask = torch.cat([torch.ones_like(before, dtype=torch.bool), mask], 1)
        return torch.cat([before, ids], 1), mask
    if start is None:
        raise ValueError(f"{type(model).__name__} has no start symbol: give input_ids, the prompts [B,t]")
    device = next(model.parameters()).device if is_causal(model) else None
    device, rows = (device, 1) if source is None else (source.device, len(source))
    first = torch.full((rows, 1), start, device=device)
    return torch.cat([first, prefix_ids(prefix, first)], 1), mask


def move_padding_left(ids: Tensor, mask: Tensor | None, pad: int, ends: Sequence[int]) -> tuple[Tensor, Tensor | None]:
    """Prompts [B,t] with their padding moved to the left, so that new tokens follow the last word; and their mask, None
    without padding. If no mask is given, padding ids count as padding, unless the id is also an end token."""
    if mask is None:
        if pad in ends:
            return ids, None
        mask = ids != pad
    if bool(mask.all()):
        return ids, None
    if not bool(mask.any(1).all()):
        raise ValueError("input_ids holds a row of padding only: each row needs at least one token")
    if bool((mask[:, :-1] & ~mask[:, 1:]).any()):
        order = mask.byte().argsort(dim=1, stable=True)
        ids, mask = ids.gather(1, order), mask.gather(1, order)
    return ids, mask


def prefix_ids(prefix: Ids | Tensor, like: Tensor) -> Tensor:
    """The prefix of each of the rows `like` [B,...] -> int64 [B,n], on their device; n = 0 without a prefix"""
    prefix = [] if prefix is None else [prefix] if isinstance(prefix, int) else prefix
    rows = torch.as_tensor(prefix, dtype=torch.int64, device=like.device)
    return rows if rows.dim() == 2 else rows.expand(len(like), -1)


def special_ids(
    model: Any, settings: Mapping[str, Any], start: int | None, end: Ids, pad: int | None
) -> tuple[int | None, tuple[int, ...], int]:
    """The start, end and padding ids: as given, or else from the settings, or else from the model's config.

    Raises ValueError for a missing start id, and for a given id that is not in the vocabulary. An id outside the
    vocabulary that only the config names is the default of a larger model and is ignored."""
    config = model.config if is_tfkit_model(model) else None
    size = vocabulary_size(config)

    def own(name: str, default: Any = None) -> Any:
        found = settings.get(name)
        return getattr(config, name, default) if found is None else found

    for name, ids in (("start_id", start), ("end_id", end), ("pad_id", pad)):
        require_ids(name, ids)
        if (high := max(to_list(ids), default=0)) >= size:
            raise ValueError(f"{name} names {high}, outside the vocabulary: ids go from 0 to {size - 1}")
        least = -1 if name == "end_id" else 0
        if (low := min(to_list(ids), default=0)) < least:
            raise ValueError(f"{name}={low}: must be an id, at least 0" + (", or -1 for no end token" if least else ""))
    if start is None:
        start = own("bos_token_id" if is_causal(model) else "decoder_start_token_id")
        start = None if start is not None and start >= size else start
    end = [i for i in to_list(own("eos_token_id")) if i < size] if end is None else end
    ends = tuple(i for i in to_list(end) if i >= 0)
    if pad is None:
        pad = own("pad_token_id", getattr(model, "pad_id", None))
        pad = (ends[0] if ends and is_causal(model) else 0) if pad is None or pad >= size else pad
    if start is None and not is_causal(model):
        raise ValueError(
            f"{type(model).__name__} has no config that names the start symbol: give start_id (and end_id)"
        )
    return start, ends, pad


def to_list(ids: Ids) -> list[int]:
    """One id, several ids or None as a list."""
    return [] if ids is None else [ids] if isinstance(ids, int) else [int(i) for i in ids]


def require_ids(name: str, ids: Any) -> None:
    """Raises TypeError for something other than an id, several ids or None."""
    several = ids if isinstance(ids, Sequence | Tensor) and not isinstance(ids, str) else [] if ids is None else [ids]
    if any(not (isinstance(i, Integral) or (isinstance(i, Tensor) and not i.is_floating_point())) for i in several):
        raise TypeError(f"{name}={ids!r}: must be an id, a whole number; a token's is tokenizer.inner.token_to_id(…)")


def require_known_ids(model: Any, given: Mapping[str, Any]) -> None:
    """Raises ValueError for an id outside the vocabulary in the settings of `LogitsProcessors` of a call."""
    size = vocabulary_size(model.config if is_tfkit_model(model) else None)
    for name in NAMED_IDS:
        require_ids(name, given.get(name))
    named_ids = {name: to_list(given.get(name)) for name in NAMED_IDS}
    if biases := given.get("sequence_bias"):
        named_ids["sequence_bias"] = [token for ids in biases_of(biases) for token in ids]
    if (words := given.get("bad_words_ids")) is not None:
        named_ids["bad_words_ids"] = [token for word in words_of(words) for token in word]
    for name, ids in named_ids.items():
        if wrong := [i for i in ids if not 0 <= i < size]:
            raise ValueError(f"{name} names {wrong[0]}, outside the vocabulary: ids go from 0 to {size - 1}")


def vocabulary_size(config: Any) -> float:
    """How many ids a model can generate; infinite if its config does not tell."""
    sizes = [getattr(config, name, None) for name in ("decoder_vocab_size", "vocab_size")]
    return next((size for size in sizes if size is not None), math.inf)


def check_names(strategy: Any, given: dict[str, Any]) -> None:
    """Raises TypeError for an invalid strategy, an unknown setting, or settings of a search beside a strategy."""
    if isinstance(strategy, type) or not (strategy is None or hasattr(strategy, "run")):
        shown = strategy.__name__ if isinstance(strategy, type) else repr(strategy)
        raise TypeError(f"strategy={shown}: give an instance of a strategy, such as tfkit.decode.Beam(4)")
    known = (*defaults.PROCESSORS, "max_length", *defaults.OTHERS, *defaults.SEARCH)
    if unknown := [name for name in given if name not in known]:
        raise TypeError(f"generate has no setting {unknown[0]!r}; available: {', '.join(known)}")
    if strategy is not None and (duplicates := [name for name in given if name in defaults.SEARCH]):
        raise TypeError(f"{duplicates[0]} describes a search, and so does strategy: pass only one of them")


def generator_for(generator: Any, seed: Any, device: torch.device) -> torch.Generator | None:
    """The given generator, or a new one with this seed on the device of the ids; None: torch's own. Raises TypeError
    for both, or another kind of thing, ValueError for a seed that torch does not take."""
    check_generator(generator, device)
    if seed is None:
        found: torch.Generator | None = generator
        return found
    if generator is not None:
        raise TypeError("seed and generator both say what samples are drawn with: pass only one of them")
    require_whole("seed", seed)
    if seed >= 2**64:
        raise ValueError(f"seed={seed}: must be below 2**64")
    return torch.Generator(device).manual_seed(seed)


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
    """The maximum number of new tokens after prompts [B,t]. max_length: of prompt and new tokens together, if
    `max_new_tokens` is not given; if neither is, the settings decide in the same way. Raises TypeError for a limit that
    is not an integer, ValueError if the prompt is longer than max_length."""
    if max_length is None and max_new_tokens is None:
        max_new_tokens, max_length = settings.get("max_new_tokens"), settings.get("max_length")
    for name, value in (("max_new_tokens", max_new_tokens), ("max_length", max_length)):
        if value is not None and not isinstance(value, int):
            raise TypeError(f"{name}={value!r}: must be a whole number of tokens")
    if max_new_tokens is not None:
        if max_new_tokens < 0:
            raise ValueError(f"max_new_tokens={max_new_tokens}: must not be negative")
        return max_new_tokens
    if max_length is None:
        return NEW_TOKENS
    if max_length < prompt.size(1):
        raise ValueError(f"max_length={max_length}: the prompt alone has {prompt.size(1)} tokens")
    return max_length - prompt.size(1)


def fit_positions(model: Any, length: int, limit: int, given: Mapping[str, Any]) -> int:
    """The number of new tokens, up to `limit`, that fits a model's positions after a prompt of this length, whose last
    token need not be read. If no limit is among the settings in `given`, the whole text fits. Raises ValueError if not
    even one token fits; warns if fewer do than were asked for."""
    positions: int | None = getattr(model, "position_limit", None) if is_tfkit_model(model) else None
    if positions is None or limit == 0 or length + limit <= positions:
        return limit
    name = type(model).__name__
    if length > positions:
        raise ValueError(f"the prompt has {length} tokens, {name} reads at most {positions}: shorten it")
    names = [name for name in ("max_new_tokens", "max_length") if given.get(name) is not None]
    room = min(limit, positions + 1 - length)
    if names and room < limit:
        limit_name = f"{names[0]}={given[names[0]]}"
        holds = f"{name} has {positions} positions, the prompt {length} tokens"
        warnings.warn(f"{limit_name}: {holds}; at most {room} new ones follow", stacklevel=4)
    return room if names else max(1, positions - length)
