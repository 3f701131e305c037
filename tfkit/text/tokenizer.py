"""Byte-level BPE (Radford et al. 2019), a thin layer over `tokenizers`: `tfkit.text.bpe` spells it out, this is
fast."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tokenizers import Tokenizer as Inner

from tfkit.text.vocabulary import Tokenizer, byte_bpe

SPECIALS = ("<pad>", "<s>", "</s>", "<unk>")


class BPETokenizer(Tokenizer):
    """Text <-> ids. Ids 0-3 are `<pad>`, `<s>`, `</s>`, `<unk>`; any text in any script survives a round trip."""

    pad_id: int
    start_id: int
    end_id: int
    unk_id: int

    def __init__(self, inner: Inner) -> None:
        wrong = [name for i, name in enumerate(SPECIALS) if inner.token_to_id(name) != i]
        if wrong:
            raise ValueError(f"the first ids of this tokenizer are not {', '.join(wrong)}: train it with BPETokenizer")
        super().__init__(inner)

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int) -> BPETokenizer:
        """Learn merges from `texts` up to `vocab_size` tokens (at least 260: the bytes and the special tokens)."""
        if isinstance(texts, str):
            raise TypeError("texts must be an iterable of strings; got one string: write [text]")
        if vocab_size < 256 + len(SPECIALS):
            raise ValueError(f"vocab_size={vocab_size} is too small for 256 bytes and 4 special tokens: at least 260")
        return cls(byte_bpe(texts, vocab_size, SPECIALS, space_first=True))

    def encode(self, texts: Sequence[str], specials: bool = False) -> list[list[int]]:
        """Ids per text; `specials` adds the start and end tokens."""
        return super().encode(texts, specials)

    def decode(self, rows: Iterable[Sequence[int]]) -> list[str]:
        """Text per row of ids, without special tokens; a row ends at its first `</s>`. Raises ValueError for an id
        outside the vocabulary."""
        return [self._text(self._until_end(row)) for row in rows]

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """One readable string per id: a space is shown as `▁`, and the bytes of a split character as `\\xNN`."""
        return [self._show_token(int(i)) for i in ids]

    def _until_end(self, row: Sequence[int]) -> list[int]:
        ids = self.check_ids(row)
        return ids[: ids.index(self.end_id)] if self.end_id in ids else ids

    def _text(self, ids: Sequence[int]) -> str:
        return self.inner.decode(ids, skip_special_tokens=True).removeprefix(" ")

    def _show_token(self, i: int) -> str:
        if i < len(SPECIALS):
            return SPECIALS[i]
        raw = bytes(BYTES[letter] for letter in self.inner.id_to_token(i) or "")
        return raw.decode("utf-8", errors="backslashreplace").replace(" ", "▁")


def byte_letters() -> dict[str, int]:
    """GPT-2's alphabet: the printable character that stands for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in printable]
    return {chr(b): b for b in printable} | {chr(256 + i): byte for i, byte in enumerate(rest)}


BYTES = byte_letters()
