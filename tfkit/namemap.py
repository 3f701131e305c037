"""Complete two-way maps between the tensor names of published checkpoints and those used here.

    NameMap({"h.{}.ln_1": "layers.{}.norm1"}, prefix="transformer.")      # .weight and .bias follow their stem

Every published tensor must be in the map, be a known copy of another, or be a known constant; otherwise it is an error.
Tensors of the model that are missing are left to the caller. `{}` stands for a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import copy
from functools import cache
from typing import Any, Self, TypeAlias

import torch

Tensors = dict[str, torch.Tensor]
TENSORFLOW_NAMES = {"gamma": "weight", "beta": "bias"}  # of norms, in files converted from TensorFlow


class UnknownTensors(ValueError):
    """A file has tensors that its architecture's map does not know; `names` lists all of them."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(f"{len(names)} tensors not in the map: {', '.join(names[:4])}")
        self.names = names


class FusedTensors(tuple):
    """One published tensor that holds several of the model, stacked along the rows: FusedTensors(("q", "k", "v"))."""


class NameMap:
    """table: published name -> local name, or FusedTensors. prefix: put before every name of the table if the
    checkpoint has a head.

    heads: the same for names outside the prefix. transposed: stems whose published weight is [in,out]. tied: copies
    that a file may hold, name -> the original's name. constant: patterns of stored buffers that are not weights.
    other_prefixes: those of files with other heads; `with_prefix` makes a map that writes one of them.
    """

    def __init__(
        self,
        table: Mapping[str, str | FusedTensors],
        *,
        prefix: str = "",
        heads: Mapping[str, str | FusedTensors] | None = None,
        transposed: Iterable[str] = (),
        tied: Mapping[str, str] | None = None,
        constant: Iterable[str] = (),
        other_prefixes: Iterable[str] = (),
    ) -> None:
        self.split: dict[str, str] = {}  # see `for_untied_output`
        self.table, self.prefix, self.heads = dict(table), prefix, dict(heads or {})
        self.prefixes = (prefix, *other_prefixes)  # that a file may have
        self.transposed, self.tied, self.constant = set(transposed), dict(tied or {}), tuple(constant)
        rows = {**self.table, **self.heads}
        self.rows = [
            (published, local if isinstance(local, FusedTensors) else FusedTensors((local,)))
            for published, local in rows.items()
        ]

    def for_untied_output(self) -> Self:
        """The map of a model whose output matrix, `output`, is not tied to the embeddings, nor its bias to another."""
        made = copy(self)
        matrix = next(name for name in self.tied if name.endswith(".weight") and "embed_tokens" not in name)
        made.split = {name: whose for name, whose in self.tied.items() if name.endswith(".bias")}
        made.tied = {name: whose for name, whose in self.tied.items() if name != matrix and name not in made.split}
        made.heads = {**self.heads, matrix.removesuffix(".weight"): "output"}
        made.rows = [*self.rows, (matrix.removesuffix(".weight"), FusedTensors(("output",)))]
        return made

    def with_prefix(self, prefix: str) -> Self:
        """The same map, but for writing files with this prefix."""
        made = copy(self)
        made.prefix = prefix
        return made

    def load(self, published: Tensors) -> Tensors:
        """Published tensors under their local names. Raises ValueError that names tensors that are unknown, occur
        twice, or are tied copies with different values."""
        published = self.drop_tied_copies(self.strip_prefix(published))
        found: Tensors = {}
        unknown = []
        for name, tensor in published.items():
            if not any(re.fullmatch(pattern, name) for pattern in self.constant):
                local = self.to_local(name, tensor)
                if repeated := local.keys() & found.keys():
                    raise ValueError(f"{name} is a second {min(repeated)}: the file has that tensor twice")
                found |= local
                unknown += [] if local else [name]
        if unknown:
            raise UnknownTensors(sorted(unknown))
        return found

    def strip_prefix(self, published: Tensors) -> Tensors:
        """The tensors under the names of a newly saved file without a head."""
        found: Tensors = {}
        for name, tensor in published.items():
            name = name.removeprefix(next((prefix for prefix in self.prefixes if name.startswith(prefix)), ""))
            stem, _, end = name.rpartition(".")
            if end in TENSORFLOW_NAMES and not any(_pattern(template).fullmatch(name) for template, _ in self.rows):
                name = f"{stem}.{TENSORFLOW_NAMES[end]}"
            if name in found:
                raise ValueError(f"{name} is in the file twice, with and without {self.prefix!r} or under an old name")
            found[name] = tensor
        return found

    def to_local(self, name: str, tensor: torch.Tensor) -> Tensors:
        """{local name: part} for one published tensor, split if it is fused; {} if no row has its name."""
        for template, names in self.rows:
            if match := _pattern(template).fullmatch(name):
                *numbers, end = match.groups()
                tensor = self.transpose(template, tensor)
                if len(names) > 1 and (tensor.dim() == 0 or tensor.size(0) % len(names)):
                    raise ValueError(f"{name} is {list(tensor.shape)}: it cannot be cut into {len(names)}")
                parts = tensor.chunk(len(names)) if tensor.dim() else (tensor,)
                return {n.format(*numbers) + end: part for n, part in zip(names, parts, strict=True)}
        return {}

    def transpose(self, template: str, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor, transposed if the published layout is."""
        return tensor.T if template in self.transposed and tensor.dim() == 2 else tensor

    def drop_tied_copies(self, published: Tensors) -> Tensors:
        """Removes the copies; if a file holds only the copy, it becomes the original."""
        published = {**published, **{whose: published[name] for name, whose in self.split.items() if name in published}}
        found = {n: tensor for n, tensor in published.items() if n not in self.tied and n not in self.split}
        for name, whose in self.tied.items():
            if name in published and not torch.equal(found.setdefault(whose, published[name]), published[name]):
                raise ValueError(f"{name} differs from {whose}, and this architecture has one matrix for both")
        return found

    def dump(self, local: Tensors, *, with_head: bool) -> Tensors:
        """Local tensors under their published names and in the published layout, with or without a head."""
        parts: dict[tuple[str, str], dict[int, torch.Tensor]] = {}
        for name, tensor in local.items():
            template, published, index = self.to_published(name)
            parts.setdefault((template, published), {})[index] = tensor
        found = {}
        for (template, published), pieces in parts.items():
            first = pieces[min(pieces)]
            whole = torch.cat([pieces[index] for index in sorted(pieces)]) if first.dim() else first.clone()
            prefix = self.prefix if with_head and template not in self.heads else ""
            found[prefix + published] = self.transpose(template, whole).contiguous()
        return found | {name: found[whose].clone() for name, whose in self.split.items() if whose in found}

    def published_name(self, name: str) -> str | None:
        """The name of a local tensor in a file without a head, or None."""
        try:
            return self.to_published(name)[1]
        except ValueError:
            return None

    def to_published(self, name: str) -> tuple[str, str, int]:
        """-> the row's template, the published name, and the index of the tensor in a fused one"""
        for template, names in self.rows:
            for index, local in enumerate(names):
                if match := _pattern(local).fullmatch(name):
                    *numbers, end = match.groups()
                    return template, template.format(*numbers) + end, index
        raise ValueError(f"the tensor {name} is not in the name map, so it cannot be saved")


class SubmodelMaps:
    """The map of a composite model: each part has its own map, below the part's name.

    parts: published name of the part -> local name, its map, and whether the part has a head. prefix: as in `NameMap`.
    keep_copies: whether published files also hold the copies that `rest` lists as tied.
    """

    def __init__(
        self, parts: Mapping[str, tuple[str, Any, bool]], rest: NameMap, *, prefix: str = "", keep_copies: bool = False
    ) -> None:
        self.parts, self.rest, self.prefix, self.keep_copies = dict(parts), rest, prefix, keep_copies

    def load(self, published: Tensors) -> Tensors:
        """As `NameMap.load`; tensors outside all parts go through `rest`."""
        published = self.rest.drop_tied_copies(
            {name.removeprefix(self.prefix): tensor for name, tensor in published.items()}
        )
        found: Tensors = {}
        for name, (local, its, _) in self.parts.items():
            below = its.load(_below(published, name + "."))
            found |= {f"{local}.{name}": tensor for name, tensor in below.items()}
            published = {key: tensor for key, tensor in published.items() if not key.startswith(name + ".")}
        return found | self.rest.load(published)

    def dump(self, local: Tensors, *, with_head: bool) -> Tensors:
        """As `NameMap.dump`; each part's tensors go through its own map, the others through `rest`."""
        found: Tensors = {}
        for name, (local_name, its, its_headed) in self.parts.items():
            below = its.dump(_below(local, local_name + "."), with_head=its_headed)
            found |= {f"{name}.{key}": tensor for key, tensor in below.items()}
            local = {key: tensor for key, tensor in local.items() if not key.startswith(local_name + ".")}
        if self.keep_copies:
            found |= {name: found[whose].clone() for name, whose in self.rest.tied.items() if whose in found}
        prefix = self.prefix if with_head else ""
        return {prefix + key: tensor for key, tensor in found.items()} | self.rest.dump(local, with_head=with_head)


TensorMap: TypeAlias = NameMap | SubmodelMaps


def map_of(model: Any, architecture: TensorMap) -> TensorMap:
    """The map of a model's tensors: the architecture's or the model's own, without ties if its matrices are untied."""
    found: TensorMap = getattr(model, "names", architecture)
    untied = getattr(model, "output", None) is not None or getattr(model, "untied_tables", False)
    return found.for_untied_output() if untied and isinstance(found, NameMap) else found


class IdentityMap:
    """The map of a part that has the same names in files."""

    @staticmethod
    def load(published: Tensors) -> Tensors:
        """The tensors, unchanged."""
        return published

    @staticmethod
    def dump(local: Tensors, *, with_head: bool) -> Tensors:
        """The tensors, unchanged."""
        return local


def _below(tensors: Tensors, stem: str) -> Tensors:
    return {name.removeprefix(stem): tensor for name, tensor in tensors.items() if name.startswith(stem)}


@cache
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.escape(template).replace(r"\{\}", r"(\d+)") + r"((?:\.weight|\.bias)?)")
