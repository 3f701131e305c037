"""What a finding says of an answer that differs."""

from autograder.checks.compare import compare
from autograder.checks.probe import Answer, Case, Check, Finding, Probe


def finding(expected, actual, explain):
    probe = Probe(lambda subject: None, Case("f", ()))
    check = Check("steps", lambda draw, reference: [], explain=explain)
    return Finding(check, (Answer(probe, expected, actual, compare(expected, actual)),))


def first_rate(expected, actual):
    return f"the first rate is {actual[0]['rate']}"


def test_a_check_explains_an_answer_that_it_can_read():
    assert finding([{"rate": 1.0}], [{"rate": 2.0}], first_rate).message == "the first rate is 2.0"


def test_an_answer_that_the_explanation_cannot_read_is_wrong_and_no_fault_of_the_check():
    for unreadable in ([1], [None], [{}], "a text", []):
        found = finding([{"rate": 1.0}], unreadable, first_rate)
        assert found.failed and found.message == found.answers[0].difference.message


def test_a_check_that_has_nothing_to_say_leaves_the_word_to_the_difference():
    assert finding([1], [2], lambda expected, actual: "").message == "the result[0] differs"


def test_no_return_is_missing_where_none_is_right_in_other_cases():
    found = finding("a name", None, None)
    assert "is a `return` missing?" in found.message
    right = finding(None, None, None).answers[0]
    either = Finding(found.check, (*found.answers, right))
    assert either.message == "the result is None where a value of type str is expected"
