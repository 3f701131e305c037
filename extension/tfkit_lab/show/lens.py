"""A model's predictions after each layer, at each position: the logit lens (nostalgebraist 2020)."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from tfkit.decode.generate import evaluating
from tfkit.inside import logit_lens as read_lens
from tfkit_lab.pictures import Picture
from tfkit_lab.widgets import STATIC

_CELL = "padding:2px 6px;border:1px solid #999;text-align:center;white-space:nowrap"


def logit_lens(
    model: nn.Module | Tensor, input_ids: Tensor, *, token: Callable[[int], str] = str, targets: Tensor | None = None,
    layers: Sequence[str] = (), top: int = 6, title: str = "Logit lens", **inputs: Any,
) -> LogitLens:  # fmt: skip
    """model: one with a language-model head, of any architecture (`tfkit.inside.logit_lens` reads it), or the logits
    [N,L,V] or [N,1,L,V] of your own lens. input_ids: one text, [L] or [1,L]; for an encoder-decoder pass
    `decoder_input_ids` too, whose positions are shown. token: id -> its name. targets: the true token of each position,
    int64 [L], negative if there is none; by default the next one of the text. layers: N names; top: how many
    tokens of a cell are kept. Raises ValueError if sizes differ."""
    read = inputs.get("decoder_input_ids", input_ids).reshape(-1)
    logits = model if isinstance(model, Tensor) else _read_layers(model, input_ids, inputs)
    logits = logits.detach().flatten(1, -2) if logits.dim() == 4 else logits.detach()
    if logits.dim() != 3 or logits.size(1) != len(read):
        raise ValueError(f"the lens gave {list(logits.shape)} for {len(read)} tokens: it must be [layers,tokens,V]")
    names = list(layers) or [f"layer {n}" for n in range(len(logits))]
    true = torch.cat([read[1:], read.new_tensor([-1])]) if targets is None else targets.reshape(-1)
    if len(names) != len(logits) or len(true) != len(read):
        raise ValueError(f"{len(logits)} layers and {len(read)} tokens have {len(names)} names and {len(true)} targets")
    words: dict[int, int] = {}
    cells = [[_cell(one, goal, top, words) for one, goal in zip(row, true.tolist(), strict=True)] for row in logits]
    wanted = [words.setdefault(goal, len(words)) if goal >= 0 else None for goal in true.tolist()]
    head = {"schema": "tfkit.trace/1", "kind": "lens", "title": title}
    read_as = {"tokens": [token(one) for one in read.tolist()], "layers": names}
    return LogitLens(
        {**head, **read_as, "vocabulary": [token(one) for one in words], "targets": wanted, "cells": cells}
    )


def _read_layers(model: nn.Module, input_ids: Tensor, inputs: dict[str, Any]) -> Tensor:
    """Logits [N,1,L,V] of a model's layers."""
    with evaluating(model):
        return read_lens(model, input_ids=input_ids.reshape(1, -1), **inputs)


def _cell(logits: Tensor, goal: int, top: int, words: dict[int, int]) -> dict[str, Any]:
    """The most likely tokens under logits [V], and the rank of the true one."""
    shares = logits.double().softmax(-1)
    p, ids = shares.topk(min(top, len(shares)))
    cell = {
        "top": [words.setdefault(one, len(words)) for one in ids.tolist()],
        "p": [_round(one) for one in p.tolist()],
    }
    if goal < 0:
        return cell
    return cell | {"target": [_round(shares[goal].item()), 1 + int((logits > logits[goal]).sum())]}


def _round(p: float) -> float:
    """Three significant digits: enough for a picture, and short in a file."""
    return float(f"{p:.3g}")


class LogitLens(Picture):
    """The most likely token after each layer, at each position."""

    _esm = script = STATIC / "lens.js"

    def body(self) -> str:
        """A table: layers down, positions across; bold and with a tick where the true next token ranks first."""
        words = self.trace["vocabulary"]
        line = lambda cells: f"<tr>{''.join(cells)}</tr>"
        top = [_th("after"), *map(_th, self.trace["tokens"])]
        rows = [
            line([_th(name), *(self._td(cell, goal) for cell, goal in zip(row, self.trace["targets"], strict=True))])
            for name, row in zip(self.trace["layers"], self.trace["cells"], strict=True)
        ]
        goals = ["" if goal is None else words[goal] for goal in self.trace["targets"]]
        foot = line([_th("true next token"), *map(_th, goals)]) if any(goals) else ""
        return f'<table style="border-collapse:collapse">{line(top)}{"".join(rows)}{foot}</table>'

    def _td(self, cell: dict[str, Any], goal: int | None) -> str:
        word, p = html.escape(self.trace["vocabulary"][cell["top"][0]]), cell["p"][0]
        content = f"<b>{word} ✓</b>" if cell["top"][0] == goal else word
        return f'<td style="{_CELL};background:rgba(21,101,192,{0.6 * p:.2f})">{content}<br><small>{p:.2f}</small></td>'


def _th(name: str) -> str:
    return f'<th style="{_CELL};font-weight:400">{html.escape(name)}</th>'


VIEW = LogitLens
