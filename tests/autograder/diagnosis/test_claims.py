"""What a verdict says that the student does is in the code; else it is said of what the code does."""

from __future__ import annotations

import pytest

from autograder.api import BESIDES
from autograder.diagnosis.claims import (
    BEHAVES,
    has_claimed_operations,
    has_removed_code,
    operations_of,
    rephrase_untrue_sentences,
)
from autograder.diagnosis.diagnose import (
    AS_IF,
    Misconception,
    _as_if,
    known_answers,
    student_sentence,
    with_second,
)
from autograder.exercises import registry
from autograder.exercises.answers import EditedAnswer, answer
from autograder.feedback.translate import say

BETWEEN_HINTS = f"\n\n{BESIDES} "

ATTENTION, SOFTMAX, BPE = map(registry.find, ("attention.scaled_dot_product", "masks.softmax", "tokenizers.bpe_train"))
BY_HAND = """
import torch
def masked_softmax(scores, mask):
    shares = scores.masked_fill(~mask, -torch.inf).exp()
    return shares / shares.sum(-2, keepdim=True)
"""
ADDS, MULTIPLIES = "def f(x, y):\n    return x + y\n", "def f(x, y):\n    return x * y\n"
HELPED = "def f(q, k, v):\n    return helper(q, k, v)\n"


def hint_of(exercise, *names):
    sentences = [student_sentence(answer(exercise, name)) for name in names]
    return Misconception("+".join(names), BETWEEN_HINTS.join(sentences))


def test_a_softmax_by_hand_is_spoken_of_as_what_it_does():
    sentence = hint_of(SOFTMAX, "softmax_over_the_queries").hint
    told = rephrase_untrue_sentences(SOFTMAX, hint_of(SOFTMAX, "softmax_over_the_queries"), BY_HAND)
    assert told.hint == BEHAVES.format(sentence=sentence) and told.name == "softmax_over_the_queries"
    own = answer(SOFTMAX, "softmax_over_the_queries").read_text()
    assert rephrase_untrue_sentences(SOFTMAX, told, own) == told


def test_of_two_mistakes_each_sentence_is_judged_by_itself():
    found = Misconception("softmax_over_the_queries", f"One. Your softmax …{BETWEEN_HINTS}what nobody has collected")
    told = rephrase_untrue_sentences(SOFTMAX, found, BY_HAND)
    first, rest = told.hint.split(BETWEEN_HINTS)
    assert first.startswith("Your code behaves as if") and rest == "what nobody has collected"


@pytest.mark.parametrize("language", ["en", "fr"])
def test_what_is_told_already_as_what_the_code_does_is_not_told_so_twice(language, monkeypatch):
    monkeypatch.setenv("LANGUAGE", language)
    behaves, besides = say(BEHAVES, sentence=""), f"\n\n{say(BESIDES)} "
    untrue, true = (answer(SOFTMAX, name) for name in ("softmax_over_the_queries", "mask_inverted"))
    for pair, again in ((true, untrue), [False, False]), ((untrue, true), [True, False]):
        found = with_second(SOFTMAX, *pair)
        assert behaves in rephrase_untrue_sentences(SOFTMAX, found, BY_HAND).hint
        hints = rephrase_untrue_sentences(SOFTMAX, _as_if(found), BY_HAND).hint.split(besides)
        assert hints[1].startswith(say(AS_IF, sentence="")) and [behaves in one for one in hints] == again


def test_the_form_of_behaviour_is_said_in_the_readers_language(monkeypatch):
    monkeypatch.setenv("LANGUAGE", "fr")
    told = rephrase_untrue_sentences(SOFTMAX, Misconception("softmax_over_the_queries", "Votre softmax …"), BY_HAND)
    assert told.hint.startswith("Votre code se comporte comme si")


@pytest.mark.parametrize(
    ("sentence", "source", "collected", "so"),
    [
        ("You add the two.", MULTIPLIES, ADDS, False),
        ("You add the two.", ADDS, ADDS, True),
        ("You do not add the two.", MULTIPLIES, ADDS, True),
        ("It is the sum.\n\nYou add the two.", MULTIPLIES, ADDS, True),  # the reason, which is no claim about the code
        ("You add the two.", MULTIPLIES, MULTIPLIES, True),  # in the collected code the sentence has another meaning
        ("You add the two.", HELPED, ADDS, True),  # what a helper does that nobody knows
        ("You add the two.", "def f(:", ADDS, True),
        ("You multiply the two.", "def f(x, y):\n    return x.double().mul(y)\n", MULTIPLIES, True),
        ("Your softmax runs over the heads.", HELPED.replace("helper", "scaled_dot_product_attention"),
         "def f(x):\n    return x.softmax(1)\n", True),  # which an earlier exercise defines
    ],
)  # fmt: skip
def test_an_operation_of_which_a_sentence_speaks_is_looked_for(sentence, source, collected, so):
    assert has_claimed_operations(sentence, source, collected) is so


@pytest.mark.parametrize(
    ("sentence", "right", "wrong", "source", "so"),
    [
        ("Your word has no end symbol.", "w + '</w>'", "w", "[w, '</w>'][:1]", True),
        ("Your word has no end symbol.", "w + '</w>'", "w", "w + ''", False),
        ("Your sum is not divided.", "w.sum() / 2", "w.sum()", "w.sum() / (w / w)", True),  # an operator alone is gone
        ("Your sum is not divided.", "w.sum() / 2", "w.sum()", "w.sum()", False),
        ("Your scores are not scaled.", "w.sum().sqrt()", "w", "w.sum()", False),  # a part of what should be there
        (
            "You take the mean, not the sum.",
            "w.sum()",
            "w.mean()",
            "w.sum() / w.sum()",
            False,
        ),  # something else instead
        ("You double the word.\n\nThere is no sum.", "w.sum()", "w", "w.sum()", False),  # not what is claimed
        ("Your word has no end symbol.", "w + '</w>'", "w", "w +", False),
    ],
)
def test_what_a_sentence_misses_is_looked_for(sentence, right, wrong, source, so, tmp_path):
    first, *rest = (f"def f(w):\n    return {one}\n" for one in (right, wrong, source))
    (tmp_path / "base.py").write_text(first)
    change = f"-    return {right}\n+    return {wrong}\n"
    collected = EditedAnswer("one", tmp_path / "base.py", sentence, change)
    assert has_removed_code(sentence, rest[1], collected) is so
    assert not has_removed_code(sentence, rest[0], collected)  # of its own code the sentence is true


def test_words_whose_end_symbol_is_in_plain_sight_are_told_what_the_code_does():
    own = answer(BPE, "end_symbol_missing").read_text()
    found = hint_of(BPE, "end_symbol_missing")
    assert rephrase_untrue_sentences(BPE, found, own) == found
    unused = (
        own.replace("def learn_bpe(", 'END = "</w>"\n\ndef learn_bpe(')
        + "\nwords = {word: (*word, END) for word in []}\n"
    )
    assert rephrase_untrue_sentences(BPE, found, unused).hint == BEHAVES.format(sentence=found.hint)


def test_every_collected_answer_can_be_read():
    """And so that no sentence is told in the other form of the code that it was written for."""
    collected = [one.read_text() for exercise in (ATTENTION, SOFTMAX) for one in known_answers(exercise)]
    assert all(operations_of(text) is not None for text in collected)
