"""Turns ids, generated one after the other, into text that only ever grows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from torch import Tensor

from tfkit.text import Tokenizer

HALF = "\N{REPLACEMENT CHARACTER}"  # the decoding of an incomplete character


def continuation(tokenizer: Tokenizer, prompt: Sequence[int], ids: Sequence[int]) -> str:
    """The text of `ids` as a continuation of the prompt, with its first space kept. Ids without a token, which exist in
    models with a rounded-up vocabulary, have no text."""
    ids = [i for i in ids if tokenizer.inner.id_to_token(i) is not None]
    before, whole = tokenizer.decode([prompt, [*prompt, *ids]])
    return whole[len(before) :] if whole.startswith(before) else tokenizer.decode([ids])[0]


def until_end(ids: Sequence[int], ends: Sequence[int]) -> list[int]:
    """The ids before the first end token; everything after it is padding."""
    return list(ids[: next((n for n, i in enumerate(ids) if i in ends), len(ids))])


def text_pieces(
    tokenizer: Tokenizer, prompt: Sequence[int], found: Iterable[Tensor], ends: Sequence[int]
) -> Iterator[str]:
    """found: pieces of new ids, int64 [1,n] -> the new text of each, never empty; an incomplete character is held back
    until its other bytes arrive. The joined pieces are the `continuation` of all ids."""
    ids: list[int] = []
    yielded = ""
    for piece in found:
        ids += piece[0].tolist()
        text = continuation(tokenizer, prompt, until_end(ids, ends)).rstrip(HALF)
        if text != yielded and text.startswith(yielded):
            yield text[len(yielded) :]
            yielded = text
    if rest := continuation(tokenizer, prompt, until_end(ids, ends))[len(yielded) :]:
        yield rest
