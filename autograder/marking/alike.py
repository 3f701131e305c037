"""Groups similar answers, so that a marker can read, mark and comment many at once.

Prose is compared by the cosine similarity of tf-idf vectors (Salton & Buckley 1988), code by the fingerprints of its
syntax tree (`report.similar`), which ignore names. Groups are formed by the leader algorithm (Hartigan 1975).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from autograder.exercises.parse import parse_source
from autograder.report.similar import fingerprints

ALIKE_PROSE = 0.35  # cosine similarity: lower mixes different ideas, higher leaves each answer alone
ALIKE_CODE = 0.75  # Jaccard similarity of the fingerprints
WORD = re.compile(r"\w+")
LABEL_WORDS = 4

Vector = Mapping[str, float]


def groups_of_prose(texts: Mapping[str, str]) -> list[list[str]]:
    """The keys of `texts` in groups of similar ones, largest group first, the most typical text of each group first."""
    vectors = tf_idf(texts)
    return _groups(list(texts), lambda a, b: _cosine(vectors[a], vectors[b]), ALIKE_PROSE)


def groups_of_code(sources: Mapping[str, str]) -> list[list[str]]:
    """The same for Python code. Code that does not parse is grouped only with identical text."""
    prints = {key: _prints(source) for key, source in sources.items()}

    def share(a: str, b: str) -> float:
        if prints[a] is None or prints[b] is None or not (prints[a] or prints[b]):
            return float(sources[a].split() == sources[b].split())
        return len(prints[a] & prints[b]) / len(prints[a] | prints[b])  # type: ignore[operator]

    return _groups(list(sources), share, ALIKE_CODE)


def label(texts: Mapping[str, str], group: Sequence[str]) -> str:
    """The words that are typical of a group and not of the other answers, most typical first; "" if there are none."""
    own = Counter(word for key in group for word in set(_words(texts[key])))
    rest = Counter(word for key in texts if key not in set(group) for word in set(_words(texts[key])))
    others = max(1, len(texts) - len(group))
    distinctive = {word: n / len(group) - rest[word] / others for word, n in own.items() if len(word) > 3}
    best = sorted(distinctive, key=lambda word: (-distinctive[word], -len(word), word))
    return ", ".join(word for word in best[:LABEL_WORDS] if distinctive[word] >= 0.4)


def tf_idf(texts: Mapping[str, str]) -> dict[str, Vector]:
    """The tf-idf vectors, normalised to length 1; empty for a text without words."""
    counts = {key: Counter(_words(text)) for key, text in texts.items()}
    holders = Counter(word for own in counts.values() for word in own)
    weight = {word: 1 + math.log((1 + len(texts)) / (1 + n)) for word, n in holders.items()}
    return {key: _unit({word: (1 + math.log(n)) * weight[word] for word, n in own.items()})
            for key, own in counts.items()}  # fmt: skip


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def _unit(vector: Vector) -> Vector:
    length = math.sqrt(sum(value * value for value in vector.values())) or 1.0
    return {word: value / length for word, value in vector.items()}


def _cosine(a: Vector, b: Vector) -> float:
    return sum(value * b[word] for word, value in a.items() if word in b)


def _prints(source: str) -> frozenset[int] | None:
    try:
        parse_source(source)  # `fingerprints` leaves out lines of IPython, which may hide that the rest does not parse
        return frozenset(fingerprints(source))
    except SyntaxError:
        return None


def _groups(keys: list[str], alike: Callable[[str, str], float], least: float) -> list[list[str]]:
    """The leader algorithm: each key joins the first group whose leader is similar; the most typical keys lead."""
    near = {a: sum(alike(a, b) for b in keys) for a in keys}
    groups: list[list[str]] = []
    for key in sorted(keys, key=lambda one: (-near[one], one)):
        home = next((group for group in groups if alike(key, group[0]) >= least), None)
        if home is None:
            groups.append([key])
        else:
            home.append(key)
    return sorted(groups, key=lambda group: -len(group))
