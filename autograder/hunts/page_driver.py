"""What runs beside a page in its box: builds it in a small size, loads weights, and records what it computes.

Its text is sent into the box, so it imports nothing but torch and the standard library.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

EVERY = 10  # steps between two losses that are kept
RATE = 1e-2  # of AdamW


def build_model(module: str, size: dict[str, Any]) -> Any:
    """The page's model in this size."""
    page = importlib.import_module(module)
    return page.MODEL(_config(page.Config, size))


def _config(kind: Any, size: dict[str, Any]) -> Any:
    parts = {name for name, value in size.items() if isinstance(value, dict)}
    whole = kind() if parts else None
    return kind(**{
        name: _config(type(getattr(whole, name)), value) if name in parts
        else tuple(value) if isinstance(value, list) else value
        for name, value in size.items()
    })  # fmt: skip


def weights(module: str, size: dict[str, Any], seed: int) -> dict[str, Tensor]:
    """Weights for the page, in its own layout: as it begins, and noise, so that none is 0 or 1."""
    torch.manual_seed(seed)
    model = build_model(module, size).double()
    return {name: value + 0.2 * torch.randn_like(value) if value.is_floating_point() else value
            for name, value in model.state_dict().items()}  # fmt: skip


def observe(module: str, size: dict[str, Any], state: dict[str, Tensor], given: dict[str, Any],
            prompt: dict[str, Any]) -> dict[str, Any]:  # fmt: skip
    """What the page computes: the output of each layer, its output twice, gradients, and what it writes."""
    model = build_model(module, size).double().eval()
    model.load_state_dict(state, strict=True)
    torch.manual_seed(0)
    seen: list[tuple[str, Tensor]] = []
    hooks = [part.register_forward_hook(_keeps(name, seen)) for name, part in _places(model)]
    output = _first(model(**given))
    for hook in hooks:
        hook.remove()
    again = _first(model(**given))
    written = model.generate(**prompt) if prompt else None
    return {"names": [name for name, _ in seen], "layers": [value for _, value in seen], "output": output.detach(),
            "again": again.detach(), "gradients": _gradients(model, output), "written": written}  # fmt: skip


def _places(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The layers of each stack, and the model's other parts."""
    for name, part in model.named_children():
        if isinstance(part, nn.ModuleList):
            yield from ((f"{name}.{index}", layer) for index, layer in enumerate(part))
        else:
            yield name, part
            inner = [(f"{name}.{key}", one) for key, one in part.named_children() if isinstance(one, nn.ModuleList)]
            yield from ((f"{key}.{index}", layer) for key, stack in inner for index, layer in enumerate(stack))


def _keeps(name: str, seen: list[tuple[str, Tensor]]) -> Callable[..., None]:
    def keep(part: nn.Module, given: Any, result: Any) -> None:
        while isinstance(result, list | tuple) and result:
            result = result[0]
        if isinstance(result, Tensor):
            seen.append((name, result.detach()))

    return keep


def _first(result: Any) -> Tensor:
    return result[0] if isinstance(result, tuple) else result


def _gradients(model: nn.Module, output: Tensor) -> dict[str, Tensor]:
    """Of one number that depends on the whole output; zeros where it does not depend on a parameter."""
    draw = torch.Generator().manual_seed(2)
    loss = (output * torch.randn(output.shape, generator=draw, dtype=output.dtype)).sum()
    names, values = zip(*model.named_parameters(), strict=True)
    found = torch.autograd.grad(loss, values, allow_unused=True) if loss.requires_grad else [None] * len(values)
    pairs = zip(names, values, found, strict=True)
    return {name: torch.zeros_like(value) if grad is None else grad for name, value, grad in pairs}


def train(module: str, size: dict[str, Any], ids: Tensor, steps: int, length: int, start: Tensor,
          count: int) -> dict[str, Any]:  # fmt: skip
    """Train the page to predict the next token of a text ids [N]: the losses, and how it goes on from start [1,S]."""
    torch.manual_seed(0)
    model = build_model(module, size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    draw, losses = torch.Generator().manual_seed(0), []
    for step in range(steps):
        rows = torch.randint(len(ids) - length, (16, 1), generator=draw) + torch.arange(length + 1)  # [16,length+1]
        batch = ids[rows.clamp(max=len(ids) - 1)]
        loss = F.cross_entropy(_first(model(batch[:, :-1])).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % EVERY == 0 or step == steps - 1:
            losses.append(loss.item())
    model.eval()
    return {"losses": losses, "written": model.generate(start, count)}
