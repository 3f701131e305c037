"""The invented language: the same from one seed, another from another, and its bits are what it costs."""

import pytest

from autograder.capstone import SyntheticLanguage


def test_a_seed_is_a_language():
    one, again, other = (SyntheticLanguage(seed).text(500, "x")[0] for seed in (1, 1, 2))
    assert one == again and one != other
    assert SyntheticLanguage(1).text(500, "y")[0] != one


def test_words_are_plain_bytes_and_sentences_end():
    text, bits = SyntheticLanguage(3).text(2000, 0)
    assert text.isascii() and text.endswith("\n") and len(text) >= 2000
    assert all(line.endswith((".", "?")) for line in text.splitlines())
    assert 0.5 < bits / len(text) < 0.65


def test_articles_agree_and_names_come_back():
    language = SyntheticLanguage(5)
    endings = ("", language.endings[0])
    nouns = {noun.word + ending: (noun.gender, bool(ending)) for noun in language.nouns for ending in endings}
    for line in language.text(20_000, 0)[0].splitlines():
        words = line[:-1].split()
        if words[0] in language.names:
            assert words[-1] == words[0] and words[1] == language.says
        for place, word in enumerate(words):
            if word in nouns:
                gender, plural = nouns[word]
                article = words[place - 1] if words[place - 1] in sum(language.articles, []) else words[place - 2]
                assert article == language.articles[gender][plural]


def test_zipfs_law_is_in_the_bits():
    """Drawn often enough, a word costs as many bits as its share says."""
    language = SyntheticLanguage(7)
    words = " ".join(language.text(200_000, 0)[0].split("\n")).replace(".", "").split()
    counts = [words.count(verb) + words.count(verb + language.endings[1]) for verb in language.verbs]
    share = 1 / sum(1 / n for n in range(1, 31))
    assert max(counts) / sum(counts) == pytest.approx(share, rel=0.15)
