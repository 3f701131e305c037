"""Parallel text in English and another language: the largest corpus that is available."""

from __future__ import annotations

from tfkit.data import packages
from tfkit.data.translation import Corpus, english_french, split

SMALL = "jupyterlab-fr"


def corpora(language: str = "fr") -> list[str]:
    """The names of the available corpora, best first; all but the small French one are fetched by `tfkit get`."""
    return [text.name for text in packages.TEXTS if text.language == language] + [SMALL] * (language == "fr")


def parallel_corpus(language: str = "fr", name: str | None = None, seed: int = 0) -> Corpus:
    """A corpus of English and `language` (fr, de, es), split by clusters of near-duplicates.

    name: one of `corpora`, of any language; default: the best that `tfkit get` has fetched, or the small French one,
    which is always available. Raises LookupError for another name or language, FileNotFoundError if it was not fetched.
    """
    known = corpora(language)
    if not known and name is None:
        raise LookupError(
            f"no corpus in {language!r} besides the English ones; available: {', '.join(packages.LANGUAGES)}"
        )
    name = name or packages.best_fetched(language) or known[-1 if SMALL in known else 0]
    if name == SMALL:
        return english_french(seed)
    pairs, groups = packages.read_pairs(name)
    return split(pairs, groups, seed, name=name)
