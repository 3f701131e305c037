"""Points by distance: what an answer keeps, and how they are spread over the checks."""

import pytest

from autograder.api import CheckResult
from autograder.credit.rule import Distance, credit_points, spread


@pytest.mark.parametrize(("edits", "share"), [(1, 0.7), (2, 0.4), (3, 0.1), (4, 0.0)])
def test_each_edit_costs_thirty_percent_of_the_points(edits, share):
    distance = Distance(tuple(map(str, range(edits))), "repaired")
    assert credit_points(0.0, 3.0, distance) == pytest.approx(3.0 * share)
    assert credit_points(0.0, 3.0, distance, "checks") == 0.0


def test_a_distance_never_lowers_what_the_checks_earn_unless_the_error_is_one_of_concept():
    assert credit_points(2.7, 3.0, Distance(("slip",), "repaired")) == 2.7
    assert credit_points(2.7, 3.0, Distance(("concept",), "repaired", conceptual=True)) == pytest.approx(2.1)
    assert credit_points(0.0, 3.0, Distance(("concept",), "repaired", conceptual=True)) == pytest.approx(2.1)
    assert credit_points(2.7, 3.0, Distance(("concept",), "repaired", conceptual=True), "checks") == 2.7


def test_without_a_distance_only_the_checks_count():
    assert credit_points(0.5, 2.0, None) == 0.5


def test_a_repaired_program_that_fails_a_check_itself_gives_less():
    assert credit_points(0.0, 2.0, Distance(("slip",), "repaired", kept=0.75)) == pytest.approx(2 * 0.7 * 0.75)


def results(*pairs):
    return [CheckResult(name=status, status=status, of=of) for status, of in pairs]


def test_checks_that_passed_earn_their_points_first():
    given = results(("failed", 1.0), ("passed", 0.5), ("passed", 0.5), ("not_run", 0.0))
    assert [one.points for one in spread(given, 1.4)] == pytest.approx([0.4, 0.5, 0.5, 0.0])
    assert [one.points for one in spread(given, 0.2)] == pytest.approx([0.0, 0.1, 0.1, 0.0])


def test_where_nothing_passed_the_failed_checks_share_the_points():
    assert [one.points for one in spread(results(("failed", 1.5), ("failed", 0.5)), 1.4)] == pytest.approx([1.05, 0.35])
