"""A model that can be asked again: with another token at some step, or another text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from tfkit.decode import record
from tfkit.decode.decoders import is_causal

Encode = Callable[[str], Sequence[int]]


class Session:
    """Runs of one model over one source. strategies: one, or two to compare; encode: text -> ids of a source, where the
    text may be changed; seed: of every run, so that two differ by what is asked alone; how: as `record` takes it."""

    def __init__(
        self, model: Any, source_ids: Tensor, strategies: Sequence[Any], encode: Encode | None, seed: int, how: dict
    ) -> None:
        self.model, self.encode, self.seed, self.how = model, encode, seed, dict(how)
        self.source = source_ids if source_ids.dim() == 2 else source_ids.unsqueeze(0)
        self.strategies = list(strategies)
        self.forced: list[list[int]] = [[] for _ in strategies]

    @property
    def asks(self) -> list[str]:
        """What can be asked."""
        return ["branch", "prompt"] if self.encode else ["branch"]

    def runs(self) -> list[dict[str, Any]]:
        """The trace of every strategy, with the tokens that were forced on it."""
        return [self.run(*pair) for pair in zip(self.strategies, self.forced, strict=True)]

    def run(self, strategy: Any, ids: Sequence[int] = ()) -> dict[str, Any]:
        """One run, as `record` gives it, with the first tokens given: `ids`."""
        how, source = dict(self.how), self.source
        how["max_new_tokens"] = max(0, how.get("max_new_tokens", 40) - len(ids))
        if ids and is_causal(self.model):
            source = torch.cat([source, source.new_tensor([list(ids)])], 1)
        elif ids:
            how["prefix"] = [*how.get("prefix", ()), *ids]
        generator = torch.Generator(device(self.model)).manual_seed(self.seed)
        return record(self.model, source, strategy=strategy, generator=generator, **how) | {"offset": len(ids)}

    def branch(self, of: int, ids: Sequence[int]) -> dict[str, Any]:
        """The first or second run with `ids` in the place of what it said; from now on the second."""
        strategy, forced = self.strategies[of], [*self.forced[of], *ids]
        found = self.run(strategy, forced)
        self.strategies[1:], self.forced[1:] = [strategy], [forced]
        return found

    def keep(self, of: int) -> None:
        """The first or second run becomes the only one."""
        self.strategies, self.forced = [self.strategies[of]], [self.forced[of]]

    def prompt(self, text: str) -> list[dict[str, Any]]:
        """The runs over another text, nothing forced. Raises ValueError for one without words."""
        ids = list(self.encode(text)) if self.encode else []
        if not ids:
            raise ValueError("there is nothing to decode from: write something")
        self.source = torch.tensor([ids], device=self.source.device)
        self.forced = [[] for _ in self.strategies]
        self.how["title"] = text
        return self.runs()


def in_words(text: Any, prompt: str, how: dict[str, Any]) -> tuple[Any, Tensor, Encode, dict[str, Any]]:
    """A `tfkit.Text` and a prompt -> what a session takes: the model, ids [1,S], the encoder, and for `record` the
    tokens' names and a title. Raises TypeError for a model without a tokenizer, or one that cannot generate."""
    if not hasattr(text, "prompt"):
        raise TypeError(f"a text is read with a tokenizer, and {type(text).__name__} has none: give tfkit.Text(…)")
    text.need("generate")
    ids = torch.tensor([text.prompt(prompt)], device=device(text.model))
    return text.model, ids, text.prompt, {"token": text.token, "title": prompt, **how}


def device(model: Any) -> torch.device:
    """Where a model's weights are; the CPU for what has none."""
    first = next(model.parameters(), None) if isinstance(model, nn.Module) else None
    return torch.device("cpu") if first is None else first.device
