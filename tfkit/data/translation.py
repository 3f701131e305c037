"""English to French, from the interface strings in JupyterLab's French language pack.

Source: PyPI `jupyterlab-language-pack-fr-FR`, catalogues written by Project Jupyter's contributors on Crowdin. Licence:
BSD-3-Clause, (c) Project Jupyter Contributors. The package is a dependency; nothing of it is copied into this one.

Interface strings repeat: "Save file", "Save all files". A random split would ask for sentences that training has all
but shown, and copying the nearest neighbour's translation would beat a trained model. So near-duplicates are gathered
into clusters and whole clusters are held out; test pairs that resemble nothing in training are marked `is_dissimilar`;
and the copying baseline (`TranslationMemory`) stands beside every score.
"""

from __future__ import annotations

import html
import importlib.util
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

PACKAGE = "jupyterlab_language_pack_fr_FR"
INSTALL = "pip install jupyterlab-language-pack-fr-FR rapidfuzz sacrebleu"
SAME_CLUSTER = 75.0  # rapidfuzz ratio, 0-100, of the English sides: near-duplicates have at least this
ROWS = 500  # rows compared at a time with all others: the whole table of 30,000 sentences would take 4 GB
DISSIMILAR = 65.0  # a test pair is dissimilar if no training pair has this ratio

NOT_PROSE = re.compile(r"%\d|%[sd]|%\(|[][{}<>`|\\=]|https?:|www\.|\w+/\w+/|\w\.\w+\.\w|\w_\w|\$\w|#\w")


@dataclass(frozen=True)
class SentencePair:
    """One sentence in both languages; `max_similarity`: in held-out pairs, the similarity (0-100) of the nearest
    training pair."""

    source: str
    target: str
    max_similarity: float = 0.0

    @property
    def is_dissimilar(self) -> bool:
        """Whether no training pair is similar to it."""
        return self.max_similarity < DISSIMILAR


@dataclass(frozen=True)
class Corpus:
    """Training, validation and test pairs, without near-duplicates across the three."""

    train: list[SentencePair]
    valid: list[SentencePair]
    test: list[SentencePair]
    name: str = "jupyterlab-fr"


@dataclass(frozen=True)
class TranslationScores:
    """BLEU and chrF (sacrebleu, 0-100) over all pairs and over the dissimilar ones."""

    bleu: float
    chrf: float
    dissimilar_bleu: float
    dissimilar_chrf: float
    count: int
    n_dissimilar: int

    def __str__(self) -> str:
        return (
            f"all {self.count}: BLEU {self.bleu:.1f}, chrF {self.chrf:.1f} · "
            f"far {self.n_dissimilar}: BLEU {self.dissimilar_bleu:.1f}, chrF {self.dissimilar_chrf:.1f}"
        )


def english_french(seed: int = 0, valid: float = 0.05, test: float = 0.10) -> Corpus:
    """The small corpus, split by clusters of near-duplicates. `valid`, `test`: the approximate shares to hold out.

    Raises ModuleNotFoundError naming the pip command when the language pack or rapidfuzz is not installed.
    """
    pairs = clean(read_catalogues())
    return split(pairs, clusters([pair.source for pair in pairs]), seed, valid, test)


def split(
    pairs: Sequence[SentencePair],
    groups: Sequence[int],
    seed: int = 0,
    valid: float = 0.05,
    test: float = 0.10,
    name: str = "jupyterlab-fr",
) -> Corpus:
    """Splits whole clusters into training and held-out pairs (groups: the cluster of each pair)."""
    order = sorted(set(groups))
    random.Random(seed).shuffle(order)
    members: dict[int, list[SentencePair]] = {group: [] for group in order}
    for pair, group in zip(pairs, groups, strict=True):
        members[group].append(pair)
    held: dict[str, list[SentencePair]] = {"test": [], "valid": [], "train": []}
    room = {"test": test * len(pairs), "valid": valid * len(pairs)}
    for group in order:
        # a cluster goes where it fits whole; the largest ones ("Show …") fit only into train
        # and pairs with single words ("Save") are used in training, but say nothing about translating sentences
        words = any(len(pair.source.split()) < 2 or len(pair.target.split()) < 2 for pair in members[group])
        fits = [n for n in ("test", "valid") if len(members[group]) <= min(room[n] - len(held[n]), room[n] / 10)]
        to = fits[0] if fits and not words else "train"
        held[to] += members[group]
    train = held["train"]
    return Corpus(train, with_nearest(held["valid"], train), with_nearest(held["test"], train), name)


def read_catalogues() -> list[SentencePair]:
    """Every translated string of the language pack, unchanged, in the order of its files."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"the English-French strings are in a package that is not installed: {INSTALL}")
    folder = Path(spec.origin).parent / "locale" / "fr_FR" / "LC_MESSAGES"
    pairs = []
    for file in sorted(folder.glob("*.json")):
        catalogue = json.loads(file.read_text(encoding="utf-8"))
        for key, translations in catalogue.items():
            if key and translations[0]:  # the key "" has the header
                pairs.append(SentencePair(key.rpartition("\x04")[2], translations[0]))  # \x04 ends a context
    return pairs


def clean(pairs: Sequence[SentencePair]) -> list[SentencePair]:
    """The pairs that are prose: 1-30 words, no placeholders, tags or paths, similar lengths, each English side once."""
    kept: dict[str, SentencePair] = {}
    for pair in pairs:
        tidy = SentencePair(normalize_line(pair.source), normalize_line(pair.target))
        if usable(tidy):
            kept.setdefault(tidy.source.lower(), tidy)
    return list(kept.values())


def normalize_line(text: str) -> str:
    """One line, plain quotes and spaces, no menu ellipsis."""
    text = html.unescape(text).replace("’", "'").replace("…", "...")
    return re.sub(r"\s+", " ", text).strip().removesuffix("...").strip()


def usable(pair: SentencePair) -> bool:
    """Whether both sides are prose of at most 30 words, of similar length, and different."""
    for text in (pair.source, pair.target):
        if NOT_PROSE.search(text) or len(text) < 3 or len(text.split()) > 30:
            return False
    short, long = sorted([len(pair.source), len(pair.target)])
    return long < 3 * short and pair.source.lower() != pair.target.lower()


def clusters(texts: Sequence[str], threshold: float = SAME_CLUSTER) -> list[int]:
    """A cluster number per text: texts share a cluster if a chain of texts at least `threshold` similar connects
    them."""
    parent = list(range(len(texts)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for start in range(0, len(texts), ROWS):
        similar = _similarity(texts[start : start + ROWS], texts[start:], threshold)
        for i, j in zip(*similar.nonzero(), strict=True):
            if i < j:
                parent[root(start + int(j))] = root(start + int(i))
    return [root(i) for i in range(len(texts))]


def with_nearest(pairs: Sequence[SentencePair], train: Sequence[SentencePair]) -> list[SentencePair]:
    """The pairs, each with the similarity of its nearest training pair."""
    known = [pair.source for pair in train]
    found = []
    for start in range(0, len(pairs), ROWS):
        part = pairs[start : start + ROWS]
        best = _similarity([pair.source for pair in part], known).max(axis=1)
        found += [replace(pair, max_similarity=float(similarity)) for pair, similarity in zip(part, best, strict=True)]
    return found


def _similarity(left: Sequence[str], right: Sequence[str], cutoff: float = 0.0):
    """float32 [left, right]: rapidfuzz's ratio of the lower-cased texts, 0 below the cutoff."""
    try:
        from rapidfuzz import fuzz, process
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"near-duplicates are found with rapidfuzz, which is not installed: {INSTALL}"
        ) from error
    left, right = [text.lower() for text in left], [text.lower() for text in right]
    return process.cdist(left, right, scorer=fuzz.ratio, score_cutoff=cutoff)


class TranslationMemory:
    """The baseline: copies the translation of the nearest training sentence."""

    def __init__(self, train: Sequence[SentencePair]) -> None:
        self.train = list(train)

    def __call__(self, sentences: Sequence[str]) -> list[str]:
        """A translation of each sentence. Raises ModuleNotFoundError without rapidfuzz."""
        known, found = [pair.source for pair in self.train], []
        for start in range(0, len(sentences), ROWS):
            best = _similarity(sentences[start : start + ROWS], known).argmax(axis=1)
            found += [self.train[int(one)].target for one in best]
        return found


def score(translations: Sequence[str], pairs: Sequence[SentencePair]) -> TranslationScores:
    """Corpus BLEU and chrF of `translations` against the pairs' French. Raises ValueError when the counts differ."""
    if len(translations) != len(pairs):
        raise ValueError(
            f"{len(translations)} translations for {len(pairs)} sentences: pass one for each, in the same order"
        )
    dissimilar = [(text, pair) for text, pair in zip(translations, pairs, strict=True) if pair.is_dissimilar]
    bleu, chrf = _bleu_chrf(translations, [pair.target for pair in pairs])
    dissimilar_bleu, dissimilar_chrf = _bleu_chrf(
        [text for text, _ in dissimilar], [pair.target for _, pair in dissimilar]
    )
    return TranslationScores(bleu, chrf, dissimilar_bleu, dissimilar_chrf, len(pairs), len(dissimilar))


def _bleu_chrf(translations: Sequence[str], references: Sequence[str]) -> tuple[float, float]:
    try:
        import sacrebleu
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"translations are scored by sacrebleu, which is not installed: {INSTALL}") from error
    if not references:
        return 0.0, 0.0
    bleu = sacrebleu.corpus_bleu(list(translations), [list(references)])
    return bleu.score, sacrebleu.corpus_chrf(list(translations), [list(references)]).score
