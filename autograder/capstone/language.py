"""An invented language: its words, grammar and collocations are drawn from a seed.

A submission could contain any existing text. This text does not exist before it is generated. Every choice
in it has a known probability, so the entropy of the whole text is known: no honest model needs fewer bits.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

CONSONANTS, VOWELS = "bcdfghjklmnpqrstvwxz", "aeiou"
NOUNS, VERBS, ADJECTIVES, NAMES = 60, 30, 20, 15
SPREAD = 1.0  # Zipf's exponent: the n-th most frequent word is n times as rare as the first


@dataclass(frozen=True)
class Noun:
    """A noun with its gender, which article and adjective agree with."""

    word: str
    gender: int


class SyntheticLanguage:
    """The language of this seed. `text(size, seed)` generates text with its entropy.

    A sentence is one of: subject verb object; NAME says that …, in which the name occurs again at the end; a question.
    Articles and adjectives agree in gender, verbs in number with the subject, so that a model has to remember earlier
    words.
    """

    def __init__(self, seed: int | str) -> None:
        draw = random.Random(f"language {seed}")
        letters = draw.sample(CONSONANTS, 12)
        taken: set[str] = set()

        def word(syllables: int) -> str:
            while True:
                made = "".join(draw.choice(letters) + draw.choice(VOWELS) for _ in range(syllables))
                if made not in taken:
                    taken.add(made)
                    return made

        self.articles = [[word(1), word(1)], [word(1), word(1)]]  # of each gender: singular, plural
        self.joints = [word(1), word(1)]  # "that", "by"
        self.says = word(2)
        self.nouns = [Noun(word(draw.choice((2, 2, 3))), draw.randrange(2)) for _ in range(NOUNS)]
        self.verbs = [word(draw.choice((2, 2, 3))) for _ in range(VERBS)]
        self.adjectives = [word(draw.choice((2, 3))) for _ in range(ADJECTIVES)]
        self.names = [word(2).capitalize() for _ in range(NAMES)]
        self.endings = draw.sample(letters, 4)  # plural noun, plural verb, adjective of each gender
        self.kinds = [0.5, 0.3, 0.2]
        self.liked = {verb: draw.sample(range(NOUNS), 6) for verb in self.verbs}  # the objects that a verb prefers

    def text(self, size: int, seed: int | str) -> tuple[str, float]:
        """At least `size` letters, with another seed -> the text, and the bits of its choices."""
        draw = _Choices(random.Random(f"text {seed}"))
        parts: list[str] = []
        length = 0
        while length < size:
            parts.append(self._sentence(draw))
            length += len(parts[-1])
        return "".join(parts), draw.bits

    def _sentence(self, draw: _Choices) -> str:
        kind = draw.one(3, self.kinds)
        if kind == 0:
            return f"{self._clause(draw)}.\n"
        if kind == 1:
            name = self.names[draw.one(NAMES)]
            return f"{name} {self.says} {self.joints[0]} {self._clause(draw)} {self.joints[1]} {name}.\n"
        return f"{self._clause(draw)}?\n"

    def _clause(self, draw: _Choices) -> str:
        subject, plural = self._phrase(draw, draw.one(NOUNS))
        verb = self.verbs[draw.one(VERBS)]
        liked = draw.one(2, [0.75, 0.25]) == 0
        # preferred and uniform choices overlap, so the entropy is slightly below the bits of the choices
        obj, _ = self._phrase(draw, self.liked[verb][draw.one(6)] if liked else draw.one(NOUNS))
        return f"{subject} {verb}{self.endings[1] if plural else ''} {obj}"

    def _phrase(self, draw: _Choices, number: int) -> tuple[str, bool]:
        noun, plural = self.nouns[number], draw.one(2, [0.65, 0.35]) == 1
        words = [self.articles[noun.gender][plural]]
        if draw.one(2, [0.7, 0.3]) == 1:
            words.append(self.adjectives[draw.one(ADJECTIVES)] + self.endings[2 + noun.gender])
        words.append(noun.word + (self.endings[0] if plural else ""))
        return " ".join(words), plural


class _Choices:
    """Makes random choices, and counts their bits."""

    def __init__(self, draw: random.Random) -> None:
        self.draw, self.bits = draw, 0.0

    def one(self, count: int, weights: Sequence[float] | None = None) -> int:
        """One of `count`, by Zipf's law unless weights are given."""
        weights = weights or [1 / (n + 1) ** SPREAD for n in range(count)]
        chosen = self.draw.choices(range(count), weights)[0]
        self.bits -= math.log2(weights[chosen] / sum(weights))
        return chosen
