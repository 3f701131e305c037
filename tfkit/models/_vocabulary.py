"""A model's tables over its vocabulary: finding them, replacing them, and giving them another number of rows.

In every architecture here the tables have one of a few names; a head that is tied to the embeddings has no matrix of
its own.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..nn.int8 import Int8Weight

# what has a row, or an entry, for each word
TABLES = (
    "embed", "embed.tokens", "text.embed.tokens", "decoder_embed", "src_embed", "tgt_embed", "output", "lm_head",
    "task_head.out", "out_proj",
)  # fmt: skip
VECTORS = ("task_head.bias", "score_bias", "final_logits_bias")
OUTPUTS = ("output", "lm_head", "task_head.out", "out_proj")
SCORES_WORDS = ("causal_lm", "seq2seq_lm", "double_heads")  # heads without a module of their own
SIZES = ("vocab_size", "decoder_vocab_size")


def input_table(model: nn.Module) -> tuple[str, nn.Module]:
    """The module that looks up tokens, with its path: the first one, which in an encoder-decoder is the encoder's or
    shared. Raises ValueError if there is none."""
    for path, module in model.named_modules():
        last = path.rpartition(".")[2]
        if last in ("tokens", "src_embed") or (last == "embed" and not hasattr(module, "tokens")):
            return path, module
    raise ValueError(f"{type(model).__name__} has no token embeddings")


def set_input_table(model: nn.Module, table: Any) -> None:
    """Puts another table [V,E] in the place of `input_table`. Raises TypeError for something other than an embedding,
    ValueError for one of another width."""
    path, old = input_table(model)
    if not isinstance(table, nn.Embedding):
        raise TypeError(f"embeddings are of type {type(table).__name__}: give a torch.nn.Embedding")
    if isinstance(old, nn.Embedding) and table.embedding_dim != old.embedding_dim:
        raise ValueError(f"embeddings have width {table.embedding_dim}, the model's have {old.embedding_dim}")
    stem, _, last = path.rpartition(".")
    setattr(model.get_submodule(stem), last, table)


def output_table(model: nn.Module) -> nn.Module | None:
    """The module whose weight [V,E] is the output matrix: the embeddings themselves, if it is tied to them; None for a
    head that scores no words."""
    own = [module for name in OUTPUTS if isinstance(module := submodule(model, name), nn.Linear)]
    if own:
        return own[0]
    tied = getattr(getattr(model, "task_head", None), "HAS_OUTPUT_MATRIX", False)
    head = getattr(model, "head", None)
    scores_words = head is not None and head in (*SCORES_WORDS, getattr(model, "WORD_HEAD", None))
    return input_table(model)[1] if tied or scores_words else None


def submodule(model: nn.Module, path: str) -> Any:
    """The part of a model at this path, or None."""
    found: Any = model
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def resize(model: Any, size: int | None, mean_resizing: bool = True) -> nn.Module:
    """Gives every table over the vocabulary `size` rows; see `Model.resize_token_embeddings`."""
    _, table = input_table(model)
    if size is None:
        return table
    check_size(model, size)
    if size == model.config.vocab_size:  # an optimizer may hold the parameters
        return table
    old_size, changed = model.config.vocab_size, dict[int, nn.Parameter]()
    for path in TABLES:
        if isinstance(part := submodule(model, path), nn.Embedding | nn.Linear):
            resize_module(part, old_size, size, mean_resizing, changed)
    for path in VECTORS:
        resize_vector(model, path, old_size, size)
    set_config(model, **{name: size for name in SIZES if getattr(model.config, name, None) is not None})
    return input_table(model)[1]


def check_size(model: Any, size: Any) -> None:
    """Raises TypeError or ValueError for a number of words that the model cannot have."""
    c, name = model.config, type(model).__name__
    if type(size) is not int:
        raise TypeError(f"new_num_tokens={size!r}: must be a whole number of tokens")
    if size < 1:
        raise ValueError(f"new_num_tokens={size}: must be at least 1")
    table = input_table(model)[1]
    if getattr(c, "vocab_size", None) is None:
        raise ValueError(f"{name} has no vocabulary of its own: resize the embeddings of its parts, if they have any")
    if hasattr(table, "patches"):
        raise ValueError(f"{name} with head {model.head!r} reads pictures: it has no table of words to resize")
    several = getattr(c, "decoder_vocab_size", None) not in (None, c.vocab_size) or getattr(c, "asm", False)
    if not isinstance(table, nn.Embedding) or several:
        raise ValueError(f"{name} has more than one table of words here: resizing it is not implemented")
    if isinstance(table.weight, Int8Weight):
        raise ValueError("weights in int8 cannot be resized: load the model as floats, resize it, and round it then")
    for field in model.NEEDED_IDS:
        needed = getattr(c, field, None)
        if needed is not None and needed < c.vocab_size and size <= needed:
            raise ValueError(f"new_num_tokens={size}: {field}={needed} would be outside the vocabulary")


def resize_module(
    part: nn.Embedding | nn.Linear, old_size: int, size: int, mean: bool, changed: dict[int, nn.Parameter]
) -> None:
    """Gives an embedding or a linear layer with `old_size` rows another number; `changed` keeps what is shared so."""
    if part.weight.size(0) != old_size and id(part.weight) not in {id(new) for new in changed.values()}:
        return
    for name, old in list(part.named_parameters(recurse=False)):
        if id(old) not in changed and old.size(0) == old_size:
            changed[id(old)] = nn.Parameter(resize_rows(old.detach(), size, mean), old.requires_grad)
        setattr(part, name, changed.get(id(old), old))
    if isinstance(part, nn.Embedding):
        part.num_embeddings = size
    else:
        part.out_features = size


def resize_vector(model: nn.Module, path: str, old_size: int, size: int) -> None:
    """Gives the parameter [V] or the buffer [1,V] at this path, if there is one, another number of entries. New ones of
    a buffer, which is not trained, are zero."""
    stem, _, last = path.rpartition(".")
    owner, part = submodule(model, stem) if stem else model, submodule(model, path)
    if not isinstance(part, Tensor) or part.size(-1) != old_size:
        return
    if isinstance(part, nn.Parameter):
        setattr(owner, last, nn.Parameter(resize_rows(part.detach(), size, True), part.requires_grad))
    else:
        setattr(owner, last, F.pad(part, (0, size - old_size)))


def resize_rows(old: Tensor, size: int, mean: bool) -> Tensor:
    """old [V,...] -> [size,...]: cut, or with new rows, which are the mean of the old ones, or drawn around zero."""
    if size <= len(old):
        return old[:size].clone()
    new = old.float().mean(0, keepdim=True).expand(size - len(old), *old.shape[1:]).to(old.dtype)
    if not mean:
        new = torch.empty_like(new).normal_(std=0.02)
    return torch.cat([old, new])


def set_config(model: nn.Module, **changes: Any) -> None:
    """Changes fields of the configuration, for the model and for each of its parts that keeps it."""
    old: Any = model.config
    new = replace(old, **changes)
    names = {field.name for field in fields(old)}
    for name, value in vars(old).items():
        if name not in names:
            object.__setattr__(new, name, value)
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if value is old:
                setattr(module, name, new)
