"""Much different code stops alike, so that a crash alone never names a mistake."""

from __future__ import annotations

import pytest

from autograder.checks.compare import RaisedError
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Answer, Case, Probe, behaves_like, collect_answers, questions
from autograder.checks.reference import reference_of
from autograder.corpus.judge import ask_reference, examine_answer
from autograder.diagnosis.diagnose import diagnose, known_answers
from autograder.exercises import registry

STOPS = """
from torch import nn

def stop(*a, **k):
    raise ERROR("shape '[2, 3, 4]' is invalid for input of size 12")
"""
CLASS = """
class NAME(nn.Module):
    def __init__(self, *a, **k):
        super().__init__()
        if AT_ONCE:
            stop()

    def load_state_dict(self, state, *a, **k):
        return None

    forward = stop
"""
WAYS = (("RuntimeError", False), ("ValueError", True), ("TypeError", True))  # at once: when a class is built


def stopping(exercise, error, at_once):
    """The source of an answer that does nothing but raise: when it is built, or when it is called."""
    text = STOPS.replace("ERROR", error)
    for symbol in exercise.symbols:
        is_class = symbol[:1].isupper()
        text += CLASS.replace("NAME", symbol).replace("AT_ONCE", str(at_once)) if is_class else f"\n{symbol} = stop\n"
    return text


@pytest.mark.parametrize("exercise", registry.exercises(), ids=lambda exercise: exercise.id)
def test_an_answer_that_only_raises_is_never_named(exercise):
    core = [check for check in registry.check_function(exercise)() if check.core]
    asked = list(questions(core, reference_of(exercise), "crashes"))
    for error, at_once in WAYS:
        namespace: dict = {"__name__": "answer"}
        exec(stopping(exercise, error, at_once), namespace)
        assert diagnose(exercise, collect_answers(asked, LocalSubject(namespace))) is None, error


def reply(message, difference="your code stopped"):
    return Answer(Probe(lambda subject: None, Case("f", ())), 1, RaisedError("exception", message), difference)


def test_a_crash_is_another_ones_only_with_the_same_message():
    actual = reply("RuntimeError: shape '[2, 3]' is invalid for input of size 12")
    for message, same in [
        ("RuntimeError: shape '[5, 1, 7]' is invalid for input of size 36", True),
        ("RuntimeError: Missing key(s) in state_dict", False),
        ("ValueError: shape '[2, 3]' is invalid for input of size 12", False),
    ]:
        assert behaves_like(RaisedError("exception", message), actual) is same
    right = reply("ValueError: no rows", difference=None)  # where an exception is right, its words are free
    assert behaves_like(RaisedError("exception", "ValueError: at least one row is needed"), right)


@pytest.mark.parametrize("stem", ["axes_counted_from_the_front"])
def test_a_mistake_that_stops_in_some_cases_only_keeps_its_name(stem):
    exercise = registry.find("attention.scaled_dot_product")
    answer = next(one for one in known_answers(exercise) if one.stem == stem)
    findings = examine_answer(answer, ask_reference(exercise, 7))
    assert all(isinstance(one.actual, RaisedError) for finding in findings for one in finding.failed)
    assert diagnose(exercise, findings).name == stem
