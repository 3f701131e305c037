"""The processes that train one model together: a thin layer over `torch.distributed` as torchrun starts it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import nn


@dataclass(frozen=True)
class ProcessGroup:
    """This process's rank among `size` processes, and its device. With a single process, all methods cost nothing."""

    rank: int = 0
    size: int = 1
    device: torch.device = torch.device("cpu")

    @classmethod
    def initialize(cls) -> ProcessGroup:
        """Joins the other processes if torchrun started this one (RANK, WORLD_SIZE, LOCAL_RANK): one GPU per process,
        or gloo on CPUs."""
        gpus = torch.cuda.device_count()
        if "RANK" not in os.environ:
            return cls(device=torch.device("cuda" if gpus else "cpu"))
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if gpus else torch.device("cpu")
        if device.type == "cuda":
            torch.cuda.set_device(device)
        dist.init_process_group("nccl" if gpus else "gloo")
        return cls(dist.get_rank(), dist.get_world_size(), device)

    def destroy(self) -> None:
        """Ends the process group; call it once, at the end."""
        if dist.is_initialized():
            dist.destroy_process_group()

    def sum(self, value: float) -> float:
        """The sum of a value over all processes."""
        if self.size == 1:
            return value
        tensor = torch.tensor(value, dtype=torch.float64, device=self.device)
        dist.all_reduce(tensor)
        return tensor.item()

    def barrier(self) -> None:
        """Waits until all processes have reached this point."""
        if self.size > 1:
            dist.barrier()

    def parallelize(self, model: nn.Module, how: str) -> nn.Module:
        """The model as all processes train it. how: "ddp": each process holds the whole model, and gradients are
        averaged (Li et al. 2020, arXiv:2006.15704); "fsdp": each holds a share of every layer (FSDP2; Zhao et al. 2023,
        arXiv:2304.11277). Raises ValueError for another value."""
        model = model.to(self.device)
        if self.size == 1:
            return model
        if how == "ddp":
            return nn.parallel.DistributedDataParallel(model)
        if how != "fsdp":
            raise ValueError(f"parallel={how!r}: choose ddp or fsdp")
        from torch.distributed.fsdp import fully_shard

        for layer in layers(model):
            fully_shard(layer)
        sharded: Any = fully_shard(model)
        return sharded


def layers(model: nn.Module) -> list[nn.Module]:
    """The repeated blocks of a model: the members of its outermost `nn.ModuleList`s."""
    found: list[nn.Module] = []
    for child in model.children():
        found += list(child) if isinstance(child, nn.ModuleList) else layers(child)
    return found


ALONE = ProcessGroup()
