"""A session with a model that can be run again with another token at some step, or with another text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tfkit.decode import record
from tfkit.decode.decoders import is_causal

UNKNOWN = re.compile(r"[<\[(|]*unk(nown)?[>\])|]*|⁇", re.I)
Encode = Callable[[str], Sequence[int]]


class Session:
    """Runs of one model over one source. strategies: one, or two to compare; encode: text -> ids of a source, where the
    text may be changed; seed: of every run, so that runs differ only by the request; how: as in `record`."""

    def __init__(
        self, model: Any, source_ids: Tensor, strategies: Sequence[Any], encode: Encode | None, seed: int, how: dict
    ) -> None:
        self.model, self.encode, self.seed, self.how = model, encode, seed, dict(how)
        self.source = source_ids if source_ids.dim() == 2 else source_ids.unsqueeze(0)
        self.strategies = list(strategies)
        self.forced: list[list[int]] = [[] for _ in strategies]

    @property
    def requests(self) -> list[str]:
        """The requests that the session supports."""
        return ["branch", "prompt"] if self.encode else ["branch"]

    def runs(self) -> list[dict[str, Any]]:
        """The trace of every strategy, with its forced tokens."""
        return [self.run(*pair) for pair in zip(self.strategies, self.forced, strict=True)]

    def run(self, strategy: Any, ids: Sequence[int] = ()) -> dict[str, Any]:
        """One run, as `record` returns it, with `ids` forced as its first tokens."""
        how, source = dict(self.how), self.source
        how["max_new_tokens"] = max(0, how.get("max_new_tokens", 40) - len(ids))
        if ids and is_causal(self.model):
            source = torch.cat([source, source.new_tensor([list(ids)])], 1)
            own = how.get("attention_mask")
            before = torch.ones_like(self.source) if own is None else torch.as_tensor(own).view_as(self.source)
            # a forced token is not padding, even if it has the padding's id: a model may generate that id
            how["attention_mask"] = F.pad(before.bool(), (0, len(ids)), value=True)
        elif ids:
            how["prefix"] = [*how.get("prefix", ()), *ids]
        generator = torch.Generator(device(self.model)).manual_seed(self.seed)
        return record(self.model, source, strategy=strategy, generator=generator, **how) | {"offset": len(ids)}

    def branch(self, of: int, ids: Sequence[int]) -> dict[str, Any]:
        """Replace the generated tokens of the first or second run by `ids`; the result becomes the second run."""
        strategy, forced = self.strategies[of], [*self.forced[of], *ids]
        found = self.run(strategy, forced)
        self.strategies[1:], self.forced[1:] = [strategy], [forced]
        return found

    def keep(self, of: int) -> None:
        """Keep only the first or second run."""
        self.strategies, self.forced = [self.strategies[of]], [self.forced[of]]

    def prompt(self, text: str) -> list[dict[str, Any]]:
        """The runs over another text, without forced tokens. Raises ValueError for a text without tokens."""
        ids = list(self.encode(text)) if self.encode else []
        if not ids:
            raise ValueError("the prompt has no tokens: write some text")
        self.source = torch.tensor([ids], device=self.source.device)
        if len({id(strategy) for strategy in self.strategies}) == 1:  # a run and its branch would be the same run twice
            self.strategies = self.strategies[:1]
        self.forced = [[] for _ in self.strategies]
        self.how["title"] = text
        return self.runs()

    def unknown(self) -> tuple[int, int]:
        """How many tokens of the source stand for what the tokenizer does not know, and how many there are."""
        name = self.how.get("source_token") or self.how["token"]
        names = [name(i) or "" for i in self.source[0].tolist()]
        return sum(UNKNOWN.fullmatch(one) is not None for one in names), len(names)


def in_words(text: Any, prompt: str, how: dict[str, Any]) -> tuple[Any, Tensor, Encode, dict[str, Any]]:
    """A `tfkit.Text` and a prompt -> the arguments of a session: the model, ids [1,S], the encoder, and for `record`
    the tokens' names and a title. Raises TypeError for a model without a tokenizer, or one that cannot generate."""
    if not hasattr(text, "prompt"):
        raise TypeError(f"a text needs a tokenizer, and {type(text).__name__} has none: pass tfkit.Text(…)")
    text.require("generate")
    ids = torch.tensor([text.prompt(prompt)], device=device(text.model))
    return text.model, ids, text.prompt, {"token": text.token, "title": prompt, **how}


def device(model: Any) -> torch.device:
    """The device of a model's weights; the CPU for a model without weights."""
    first = next(model.parameters(), None) if isinstance(model, nn.Module) else None
    return torch.device("cpu") if first is None else first.device
