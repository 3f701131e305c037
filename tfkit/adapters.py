"""LoRA on a whole model: adapters beside its linear layers, which learn while everything else is frozen.

adapter = tfkit.lora(model, rank=8, alpha=16)       # model computes as before, and only the adapter learns
…                                                   # train the model as any other
adapter.save_pretrained("adapter")                  # PEFT's files: a few MB beside the model
tfkit.load_adapter(model, "adapter").merge()        # the model alone again, at its own speed
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from .decode.checks import require_number, require_whole
from .hub import peft_files
from .nn.int8 import Int8Weight
from .nn.lora import LoRALinear

TARGETS = (("q_proj", "v_proj"), ("qkv_proj",))  # as in the paper; where one layer computes all three
ALL = "all-linear"
OUTPUTS = ("lm_head", "output", "task_head", "out_proj", "pooler")  # a head, which all-linear leaves alone

HALF = (torch.float16, torch.bfloat16)


class AdaptedLinear(LoRALinear):
    """A LoRALinear that also answers for the linear layer in whose place it is, for code that reads its weight. Beside
    a base in half precision, which would round small steps away, `a` and `b` are float32, as in PEFT."""

    def __init__(self, base: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__(base, rank, alpha)
        if base.weight.dtype in HALF:
            self.a, self.b = nn.Parameter(self.a.detach().float()), nn.Parameter(self.b.detach().float())

    def forward(self, x: Tensor) -> Tensor:
        """x [...,in] -> [...,out], in the base's dtype"""
        out: Tensor = self.base(x)
        return (out + self.scale * (x.to(self.a.dtype) @ self.a.T @ self.b.T)).to(out.dtype)

    def merged(self) -> Tensor:
        """-> [out,in]: the weight and its adapter in one, in the base's dtype"""
        return super().merged().to(self.base.weight.dtype)

    @property
    def weight(self) -> Tensor:
        """[out,in], with the adapter."""
        return self.merged()

    @property
    def bias(self) -> Tensor | None:
        """[out]: the base layer's."""
        return self.base.bias

    @property
    def rank(self) -> int:
        """The width of the adapter."""
        return self.a.size(0)


class Adapter:
    """The adapters of a model. layers: the path of each adapted layer -> its AdaptedLinear; trainable: the names of the
    model's parameters that learned before."""

    def __init__(self, model: nn.Module, layers: Mapping[str, AdaptedLinear], trainable: set[str]) -> None:
        self.model, self.layers, self.trainable, self.is_merged = model, dict(layers), trainable, False
        model.requires_grad_(False)
        for path, layer in self.layers.items():
            self.replace(path, layer)
        for weight in self.parameters():
            weight.requires_grad_()

    def __repr__(self) -> str:
        numbers = sum(weight.numel() for weight in self.parameters())
        state = ", merged" if self.is_merged else ""
        return f"Adapter({type(self.model).__name__}: {len(self.layers)} layers, {numbers} parameters{state})"

    def parameters(self) -> Iterator[nn.Parameter]:
        """The parameters that learn."""
        for layer in self.layers.values():
            yield from (layer.a, layer.b)

    def replace(self, path: str, layer: nn.Module) -> None:
        """Puts a layer at this path of the model."""
        stem, _, last = path.rpartition(".")
        setattr(self.model.get_submodule(stem), last, layer)

    def merge(self) -> nn.Module:
        """Adds the adapter to the weights -> the model, whose layers are plain ones again. `unmerge` takes it back."""
        for path, layer in self.layers.items() if not self.is_merged else ():
            plain = nn.Linear(1, 1, bias=layer.bias is not None, device="meta")
            plain.in_features, plain.out_features = layer.base.in_features, layer.base.out_features
            plain.weight, plain.bias = nn.Parameter(layer.merged().detach(), False), layer.base.bias
            self.replace(path, plain.train(layer.training))
        self.is_merged = True
        return self.model

    def unmerge(self) -> nn.Module:
        """Undoes `merge`, to the last bit -> the model."""
        for path, layer in self.layers.items():
            self.replace(path, layer.train(self.model.training))
        self.is_merged = False
        return self.model

    def remove(self) -> nn.Module:
        """Takes the adapter off -> the model as it was, with the same weights learning."""
        for path, layer in self.layers.items():
            self.replace(path, layer.base.train(self.model.training))
        for name, weight in self.model.named_parameters():
            weight.requires_grad_(name in self.trainable)
        self.is_merged = False
        return self.model

    def save_pretrained(self, directory: str | Path) -> None:
        """Writes adapter_config.json and adapter_model.safetensors in PEFT's layout, under the published names of the
        layers: PEFT, transformers' `load_adapter` and `tfkit.load_adapter` read them."""
        peft_files.write(self.model, self.layers, directory)


def lora(
    model: nn.Module, rank: int, alpha: float | None = None, *, targets: str | Sequence[str] | None = None
) -> Adapter:
    """Puts a LoRA adapter (Hu et al. 2021, arXiv:2106.09685) beside each linear layer that `targets` names, and freezes
    all other parameters. At first the model computes what it did.

    alpha: the adapter counts alpha / rank times; default rank. targets: ends of paths, of the model's own
    ("q_proj", "ff.up") or as published ("c_attn", "query"); "all-linear": all but the head's; by default queries and
    values, or all where there are none. Raises TypeError for
    something other than a model or a number, ValueError for targets that name no linear layer, and for a model that has
    an adapter.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model is of type {type(model).__name__}: give a model of tfkit")
    require_whole("rank", rank, least=1)
    alpha = rank if alpha is None else alpha
    require_number("alpha", alpha, above=0)
    check_unadapted(model)
    layers, trainable = select_layers(model, targets), trainable_names(model)
    return Adapter(model, {path: AdaptedLinear(layer, rank, alpha) for path, layer in layers.items()}, trainable)


def load_adapter(model: nn.Module, directory: str | Path) -> Adapter:
    """The LoRA adapter in a directory, as PEFT or `Adapter.save_pretrained` wrote it, put beside the layers of the
    model. Raises FileNotFoundError for a missing file; ValueError, naming it, for a damaged one, for another kind of
    adapter, and for layers that the model does not have."""
    check_unadapted(model)
    layers, trainable, found = linear_layers(model), trainable_names(model), dict[str, AdaptedLinear]()
    for path, (a, b, scale) in peft_files.read(model, layers, directory).items():
        layer = AdaptedLinear(layers[path], a.size(0), scale * a.size(0))
        layer.a.data.copy_(a)
        layer.b.data.copy_(b)
        found[path] = layer
    return Adapter(model, found, trainable)


def trainable_names(model: nn.Module) -> set[str]:
    """The names of the parameters that learn."""
    return {name for name, weight in model.named_parameters() if weight.requires_grad}


def check_unadapted(model: nn.Module) -> None:
    """Raises ValueError for a model that has an adapter already."""
    if any(isinstance(module, LoRALinear) for module in model.modules()):
        raise ValueError(f"{type(model).__name__} has an adapter already: merge it, or take it off with its remove()")


def select_layers(model: nn.Module, targets: str | Sequence[str] | None) -> dict[str, nn.Linear]:
    """The linear layers that `targets` name, by their paths."""
    layers = linear_layers(model)
    if targets is None:
        kinds = {path.rpartition(".")[2] for path in layers}
        targets = next((names for names in TARGETS if kinds.issuperset(names)), ALL)
    if targets == ALL:
        return {path: layer for path, layer in layers.items() if path.split(".")[0] not in OUTPUTS}
    wanted = (targets,) if isinstance(targets, str) else tuple(targets)
    published = peft_files.published_modules(model, layers)
    names = {path: (f".{path}", f".{published.get(path, path)}") for path in layers}
    found: dict[str, nn.Linear] = {}
    for target in wanted:
        matched = {path for path in layers if any(name.endswith(f".{target}") for name in names[path])}
        if not matched:
            known = ", ".join(sorted({path.rpartition(".")[2] for path in layers}))
            raise ValueError(f"targets: {type(model).__name__} has no linear layer {target!r}; it has {known}")
        found |= {path: layer for path, layer in layers.items() if path in matched}
    return found


def linear_layers(model: nn.Module) -> dict[str, nn.Linear]:
    """The linear layers that can have an adapter, by their paths: not those of experts, which are multiplied all at
    once, nor rounded ones."""
    return {
        path: layer
        for path, layer in model.named_modules()
        if isinstance(layer, nn.Linear)
        and "experts" not in path.split(".")
        and not isinstance(layer.weight, Int8Weight)
    }
