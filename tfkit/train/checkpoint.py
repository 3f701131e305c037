"""The whole state of training in one safetensors file: weights, optimiser, step, random state."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

MOMENTS = ("exp_avg", "exp_avg_sq", "step")


def save_checkpoint(file: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
    """Write the state; the old file stays until the new one is whole."""
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors["step"] = torch.tensor(step)
    tensors["rng"] = torch.get_rng_state()
    for name, parameter in model.named_parameters():
        state = optimizer.state[parameter]  # empty before the first step, and where no gradient ever came
        tensors |= {f"optimizer.{name}.{part}": state[part] for part in MOMENTS if part in state}
    _write(file, tensors)


def load_checkpoint(file: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """Put a saved state back -> the steps done; 0 when there is no file. Raises ValueError for another model's."""
    if not Path(file).is_file():
        return 0
    tensors = load_file(str(file))
    _fill(model, {name[6:]: value for name, value in tensors.items() if name.startswith("model.")}, file)
    for name, parameter in model.named_parameters():
        found = {part: tensors[key] for part in MOMENTS if (key := f"optimizer.{name}.{part}") in tensors}
        if found:
            optimizer.state[parameter] = {k: v if k == "step" else v.to(parameter.device) for k, v in found.items()}
    torch.set_rng_state(tensors["rng"])
    return int(tensors["step"])


def save_weights(model: nn.Module, file: str | Path) -> None:
    """The weights alone, to use the model elsewhere: `load_weights` reads them into a model of the same shape."""
    _write(file, dict(model.state_dict()))


def load_weights(model: nn.Module, file: str | Path) -> nn.Module:
    """Raises FileNotFoundError, or ValueError naming what differs."""
    if not Path(file).is_file():
        raise FileNotFoundError(f"no weights at {file}: train the model and save it there first")
    _fill(model, load_file(str(file)), file)
    return model


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
