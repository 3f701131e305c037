"""Ids that are generated one after the other, as text that only ever grows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from torch import Tensor

from tfkit.text import Tokenizer

HALF = "\N{REPLACEMENT CHARACTER}"  # what bytes that are no whole letter are decoded to


def continuation(tokenizer: Tokenizer, prompt: Sequence[int], ids: Sequence[int]) -> str:
    """The text of `ids` as it stands behind the prompt's: its first space is kept. Ids without a symbol, which a
    model has where its table was rounded up, have no text."""
    ids = [i for i in ids if tokenizer.inner.id_to_token(i) is not None]
    before, whole = tokenizer.decode([prompt, [*prompt, *ids]])
    return whole[len(before) :] if whole.startswith(before) else tokenizer.decode([ids])[0]


def until_end(ids: Sequence[int], ends: Sequence[int]) -> list[int]:
    """The ids up to the first that ends a text, without it: what follows is padding."""
    return list(ids[: next((place for place, i in enumerate(ids) if i in ends), len(ids))])


def text_pieces(
    tokenizer: Tokenizer, prompt: Sequence[int], found: Iterable[Tensor], ends: Sequence[int]
) -> Iterator[str]:
    """found: int64 [1,n] each -> the new text of each, never empty; half a letter waits for its other half. The pieces
    joined are the `continuation` of all ids."""
    ids: list[int] = []
    said = ""
    for piece in found:
        ids += piece[0].tolist()
        text = continuation(tokenizer, prompt, until_end(ids, ends)).rstrip(HALF)
        if text != said and text.startswith(said):
            yield text[len(said) :]
            said = text
    if rest := continuation(tokenizer, prompt, until_end(ids, ends))[len(said) :]:
        yield rest
