"""The whole state of training: weights, optimizer, averaged weights, step, random state. It is one safetensors file or,
with many processes, a folder to which each writes its share (`torch.distributed.checkpoint`)."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from tfkit.train.process_group import ALONE, ProcessGroup

MOMENTS = ("exp_avg", "exp_avg_sq", "step")
ACCELERATORS = ("cuda", "mps", "xpu")  # dropout on one of these draws from that device's own generator


def random_states() -> dict[str, Tensor]:
    """The state of every global generator of this process: "rng" of the CPU, "rng.cuda.0" of the first GPU, …"""
    states = {"rng": torch.get_rng_state()}
    for kind in ACCELERATORS:
        module = getattr(torch, kind)
        for i in range(module.device_count()):
            states[f"rng.{kind}.{i}"] = module.get_rng_state() if kind == "mps" else module.get_rng_state(i)
    return states


def set_random_states(states: dict[str, Tensor]) -> None:
    """Restores the states from `random_states`; the state of a device that is not present is ignored."""
    for name in random_states().keys() & states.keys():
        _, _, device = name.partition(".")
        kind, _, number = device.partition(".")
        if not device:
            torch.set_rng_state(states[name])
        elif kind == "mps":
            torch.mps.set_rng_state(states[name])
        else:
            getattr(torch, kind).set_rng_state(states[name], int(number))


@dataclass(frozen=True)
class Checkpoint:
    """Saves and restores the state of a run in `file` (nowhere if it is None)."""

    file: str | Path | None
    model: nn.Module
    optimizer: torch.optim.Optimizer
    average: nn.Module | None = None
    process_group: ProcessGroup = ALONE

    def save(self, step: int) -> None:
        """Write the state; the old file stays until the new one is complete."""
        if self.file is None:
            return
        if self.process_group.size > 1:
            state = _shared_state(self.model, self.optimizer, self.average, self.process_group, step)
            return _save_shares(Path(self.file), state, self.process_group)
        tensors = {f"model.{name}": value for name, value in self.model.state_dict().items()}
        tensors |= {"step": torch.tensor(step), **random_states()}
        for name, parameter in self.model.named_parameters():
            # empty before the first step, and for parameters that never had a gradient
            state = self.optimizer.state[parameter]
            tensors |= {f"optimizer.{name}.{part}": state[part] for part in MOMENTS if part in state}
        if self.average is not None:
            tensors |= {f"average.{name}": value for name, value in self.average.state_dict().items()}
        _write(self.file, tensors)

    def load(self) -> int:
        """Restore a saved state -> the steps done; 0 if there is none. Raises ValueError for the state of another
        model, or of a run that did or did not average its weights, other than this one."""
        if self.file is None:
            return 0
        if self.process_group.size > 1:
            return _load_shares(Path(self.file), self.model, self.optimizer, self.average, self.process_group)
        if Path(self.file).is_dir():
            raise ValueError(f"{self.file} was written by several processes: resume with as many, under torchrun")
        if not Path(self.file).is_file():
            return 0
        tensors = read_state(self.file)
        require_same_averaging(self.file, any(name.startswith("average.") for name in tensors), self.average)
        _fill(self.model, _under("model.", tensors), self.file)
        if self.average is not None:
            _fill(self.average, _under("average.", tensors), self.file)
        for name, parameter in self.model.named_parameters():
            found = {part: tensors[key] for part in MOMENTS if (key := f"optimizer.{name}.{part}") in tensors}
            if found:
                where = parameter.device
                counted = where if self.optimizer.defaults.get("fused") else torch.device("cpu")
                self.optimizer.state[parameter] = {k: v.to(counted if k == "step" else where) for k, v in found.items()}
        set_random_states(tensors)
        return int(tensors["step"])


def read_state(file: str | Path) -> dict[str, Tensor]:
    """The tensors of a saved state. Raises ValueError, naming the file, for one that is damaged or something else."""
    try:
        tensors = load_file(str(file))
    except (SafetensorError, ValueError, KeyError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{file}: damaged or cut off ({reason}): delete it to start again") from None
    if lacking := [name for name in ("step", "rng") if name not in tensors]:
        raise ValueError(f"{file}: has no {lacking[0]!r}, so it is no state of training: choose another file")
    return tensors


def _shared_state(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    average: nn.Module | None,
    process_group: ProcessGroup,
    step: int,
) -> dict[str, Any]:
    from torch.distributed.checkpoint.state_dict import get_state_dict

    weights, moments = get_state_dict(model, optimizer)
    state = {"model": weights, "optimizer": moments, "step": torch.tensor(step)}
    state |= {f"{process_group.rank}.{name}": value for name, value in random_states().items()}
    if average is not None:
        state["average"] = average.state_dict()
    return state


def _save_shares(folder: Path, state: dict[str, Any], process_group: ProcessGroup) -> None:
    import torch.distributed.checkpoint as dcp

    partial = folder.with_name(folder.name + ".part")
    dcp.save(state, checkpoint_id=str(partial))
    process_group.barrier()
    if process_group.rank == 0:  # two renames: at any time between them one complete state is on disk
        old = folder.with_name(folder.name + ".old")
        shutil.rmtree(old, ignore_errors=True)
        if folder.exists():
            os.replace(folder, old)
        os.replace(partial, folder)
        shutil.rmtree(old, ignore_errors=True)
    process_group.barrier()


def _load_shares(
    folder: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    average: nn.Module | None,
    process_group: ProcessGroup,
) -> int:
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.state_dict import set_state_dict

    old = folder.with_name(folder.name + ".old")
    folder = folder if folder.exists() or not old.exists() else old
    if not folder.exists():
        return 0
    stored = dcp.FileSystemReader(str(folder)).read_metadata().state_dict_metadata
    require_same_averaging(folder, any(name.startswith("average.") for name in stored), average)
    state = _shared_state(model, optimizer, average, process_group, 0)
    dcp.load(state, checkpoint_id=str(folder))
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
    if average is not None:
        average.load_state_dict(state["average"])
    set_random_states(_under(f"{process_group.rank}.", {k: v for k, v in state.items() if isinstance(v, Tensor)}))
    return int(state["step"])


def save_weights(model: nn.Module, file: str | Path) -> None:
    """Save the weights alone, for use elsewhere: `load_weights` reads them into a model of the same shape."""
    _write(file, dict(model.state_dict()))


def load_weights(model: nn.Module, file: str | Path) -> nn.Module:
    """Raises FileNotFoundError, or ValueError that names the differences."""
    if not Path(file).is_file():
        raise FileNotFoundError(f"no weights at {file}: train the model and save it there first")
    _fill(model, load_file(str(file)), file)
    return model


def require_same_averaging(file: str | Path, stored: bool, average: nn.Module | None) -> None:
    """Raises ValueError if averaged weights are stored and not wanted, which would drop them at the next save, or
    wanted and not stored."""
    if stored and average is None:
        raise ValueError(
            f"{file} holds averaged weights, which would be lost: resume with the same `average` "
            "(--average of tfkit.train), or begin in another place"
        )
    if average is not None and not stored:
        raise ValueError(
            f"{file} holds no averaged weights: the run began without `average` (--average of tfkit.train); resume "
            "without it, or begin in another place"
        )


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _fill(model: nn.Module, tensors: dict[str, Tensor], file: str | Path) -> None:
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:300]
        raise ValueError(
            f"{file} holds another model's weights (delete it, or make the same model): {reason}"
        ) from error


def _write(file: str | Path, tensors: dict[str, Tensor]) -> None:
    file = Path(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(file.name + ".part")
    # clones: safetensors refuses tensors that share memory, as tied embeddings do
    save_file({name: value.detach().cpu().clone().contiguous() for name, value in tensors.items()}, str(partial))
    os.replace(partial, file)
