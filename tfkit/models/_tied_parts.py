"""One set of weights for an encoder and a decoder that were built separately, and files that hold it once or twice."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ..namemap import SubmodelMaps


def tie(encoder: nn.Module, decoder: nn.Module) -> list[str]:
    """Parameters in both models become one, all but cross-attention and the head -> the names of the shared ones.

    Raises ValueError if the two are not of the same architecture and size.
    """
    source = dict(encoder.named_parameters())
    shared = [
        name for name, _ in decoder.named_parameters() if not name.startswith("task_head.") and "cross_" not in name
    ]
    for name in shared:
        if name not in source or source[name].shape != decoder.get_parameter(name).shape:
            raise ValueError(f"tie_encoder_decoder: encoder and decoder must be alike; {name} differs")
        stem, _, last = name.rpartition(".")
        setattr(decoder.get_submodule(stem), last, source[name])
    return shared


class TiedParts(SubmodelMaps):
    """The name map of a model whose halves share the parameters named in `shared`.

    Files may hold shared parameters once, under either name, or twice; files written here hold them twice, so that
    every reader finds them.
    """

    def __init__(
        self,
        parts: dict[str, tuple[str, Any, bool]],
        rest: Any,
        shared: Sequence[str],
    ) -> None:
        super().__init__(parts, rest)
        self.shared = shared

    def load(self, published: dict[str, Tensor]) -> dict[str, Tensor]:
        found = super().load(published)
        for name in self.shared:
            copies = [found[key] for key in (f"encoder.{name}", f"decoder.{name}") if key in found]
            if len(copies) == 2 and not torch.equal(*copies):
                raise ValueError(f"{name} of encoder and decoder differ, although tie_encoder_decoder is set")
            found |= {f"{half}.{name}": copies[0] for half in ("encoder", "decoder") if copies}
        return found

    def dump(self, local: dict[str, Tensor], *, with_head: bool) -> dict[str, Tensor]:
        copies = {
            name: tensor.clone() for name, tensor in local.items() if name.removeprefix("decoder.") in self.shared
        }
        return super().dump({**local, **copies}, with_head=with_head)
