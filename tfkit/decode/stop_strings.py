"""Stop strings: a row ends with the token that completes one of them, as in transformers' `generate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tfkit.text.tokenizer import BYTES

START = "abcdef"  # a token is decoded after this text, as the first one of a text may lose its space
DECODERS = ("ByteLevel", "ByteFallback")


class StopStrings:
    """Tests whether the last token of a text completes a stop string, which may have begun in the prompt. Texts are
    compared as bytes, since a token may be a part of a character.

    tokenizer: of tfkit, of transformers or of `tokenizers`. Raises TypeError for anything else, and for stop strings
    that are not texts; ValueError for an empty one.
    """

    def __init__(self, strings: str | Sequence[str], tokenizer: Any) -> None:
        strings = [strings] if isinstance(strings, str) else strings
        if not isinstance(strings, Sequence) or any(not isinstance(one, str) for one in strings):
            raise TypeError(f"stop_strings={strings!r}: give a text, or a list of them")
        if not all(strings):
            raise ValueError("stop_strings holds an empty text, which every text would end with")
        self.strings = [one.encode() for one in strings]
        self.inner = inner_tokenizer(tokenizer)
        self.decoder = self.inner.decoder
        state = b"" if self.decoder is None else bytes(self.decoder.__getstate__())
        self.kind = next((kind for kind in DECODERS if f'"{kind}"'.encode() in state), None)
        self.start = self.inner.encode(START, add_special_tokens=False).tokens
        self.read_tokens: dict[int, bytes] = {}

    def __call__(self, ids: Tensor) -> Tensor:
        """ids [...,T] -> bool [...]: whether the last token of a row completes a stop string"""
        longest = max(map(len, self.strings), default=0)
        tails = ids[..., -longest - 1 :].flatten(0, -2).tolist()  # a token has at least one byte, or changes nothing
        done = torch.tensor([self.completes(tail) for tail in tails], dtype=torch.bool, device=ids.device)
        return done.view(ids.shape[:-1])

    def completes(self, ids: Sequence[int]) -> bool:
        """Whether the last of these ids completes a stop string."""
        before, last = b"".join(map(self.text, ids[:-1])), self.text(ids[-1])
        tails = [before[max(0, len(before) - len(stop) + 1) :] + last for stop in self.strings]
        return any(stop in tail for stop, tail in zip(self.strings, tails, strict=True))

    def length(self, before: Sequence[int], ids: Sequence[int]) -> int:
        """How many of the ids, which follow others, are left when the text ends at its first stop string."""
        every = [*before, *ids]
        ends = (n for n in range(1, len(ids) + 1) if self.completes(every[: len(before) + n]))
        return next(ends, len(ids))

    def text(self, token: int) -> bytes:
        """The bytes of a token inside a text; none for an id that has no token."""
        if token not in self.read_tokens:
            self.read_tokens[token] = self.read(self.inner.id_to_token(token))
        return self.read_tokens[token]

    def read(self, name: str | None) -> bytes:
        """The bytes of the token with this name."""
        if name is None:
            return b""
        if self.kind == "ByteLevel" and all(letter in BYTES for letter in name):
            return bytes(BYTES[letter] for letter in name)
        if self.kind == "ByteFallback" and len(name) == 6 and name.startswith("<0x"):
            return bytes([int(name[3:5], 16)])
        whole = self.join([*self.start, name])  # a vocabulary without these letters cannot spell START
        return (whole.partition(START)[2] if START in whole else self.join([name])).encode()

    def join(self, names: list[str]) -> str:
        """The text of tokens."""
        return " ".join(names) if self.decoder is None else str(self.decoder.decode(names))


def inner_tokenizer(tokenizer: Any) -> Any:
    """The `tokenizers.Tokenizer` inside a tokenizer. Raises TypeError if there is none."""
    for found in (tokenizer, getattr(tokenizer, "inner", None), getattr(tokenizer, "backend_tokenizer", None)):
        if hasattr(found, "id_to_token") and hasattr(found, "decoder"):
            return found
    if tokenizer is None:
        raise ValueError("stop_strings are texts, and a model reads ids: give the tokenizer too, tokenizer=…")
    raise TypeError(f"tokenizer is of type {type(tokenizer).__name__}: give a tfkit.text.Tokenizer")
