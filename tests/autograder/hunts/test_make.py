"""Hunts are made from right answers and collected mistakes; lines and repair follow from the edits."""

import pytest

from autograder.exercises import registry
from autograder.hunts import make

CAUSAL = registry.find("masks.causal")
ATTENTION = registry.find("attention.scaled_dot_product")


def test_every_exercise_has_as_many_hunts_as_the_guide_for_teachers_promises():
    counts = {exercise.id: len(make.hunts(exercise)) for exercise in registry.exercises()}
    assert min(counts.values()) >= 7 and sum(counts.values()) > 1300


def test_code_and_repair_differ_in_the_lines_of_the_faults_alone():
    for exercise in (CAUSAL, ATTENTION):
        for hunt in make.hunts(exercise):
            code, repair = hunt.code.splitlines(), hunt.repair.splitlines()
            suspects = {line for place in hunt.fault_lines for line in place}
            assert suspects and suspects <= set(range(1, len(code) + 1)), hunt.id
            for number, line in enumerate(code, 1):
                assert number in suspects or line in repair, (hunt.id, number)


def test_nothing_in_the_code_says_what_is_wrong():
    for hunt in make.hunts(CAUSAL):
        assert hunt.faults[0].sentence.strip()[:30] not in hunt.code and hunt.names[0] not in hunt.code


def test_a_missing_line_is_looked_for_on_both_sides_of_the_gap():
    lost = [hunt for exercise in registry.exercises() for hunt in make.hunts(exercise)
            if all(not one.lines for one in hunt.faults[0].replacements)]  # fmt: skip
    assert lost
    for hunt in lost:
        assert all(1 <= line <= len(hunt.code.splitlines()) for place in hunt.fault_lines for line in place)


def test_lines_of_several_faults_are_those_of_the_code_with_all_of_them():
    for hunt in make.hunts(ATTENTION, 2)[:40]:
        lines = hunt.code.splitlines()
        for fault, place in zip(hunt.faults, hunt.fault_lines, strict=True):
            new = {line for one in fault.replacements for line in one.lines}
            assert new <= {lines[number - 1] for number in place}, hunt.id
            assert hunt.without(fault) not in (hunt.code, hunt.repair)


def test_a_hunt_is_found_by_its_id():
    (two, *_) = make.hunts(ATTENTION, 2)
    assert make.find(two.id) == two
    with pytest.raises(make.UnknownHunt, match="has no fault called 'sees'.*sees_one_ahead"):
        make.find("masks.causal/sees")
    with pytest.raises(make.UnknownHunt, match="change the same lines"):
        make.find("masks.causal/sees_one_ahead+nothing_hidden")


def test_students_draw_their_own_hunts_and_the_same_ones_again():
    drawn = {(name, seed): make.draw(CAUSAL, name, seed).id for name in ("ada", "bob", "eve") for seed in range(8)}
    assert len(set(drawn.values())) > 5
    assert drawn["ada", 3] == make.draw(CAUSAL, "ada", 3).id
    assert [drawn["ada", seed] for seed in range(8)] != [drawn["bob", seed] for seed in range(8)]


def test_no_hunt_with_three_faults_where_all_change_one_line():
    with pytest.raises(make.UnknownHunt, match="has no hunt with 3 faults: ask for fewer"):
        make.draw(registry.find("masks.causal"), "ada", 0, 3)


@pytest.mark.parametrize(
    ("before", "after", "count"),
    [
        ("a\nb\n", "a\nb\n", 0),
        ("a\nb\n", "a\nc\n", 1),
        ("a\n\nb\n", "a\nb\n", 0),
        ("a\n", "a\nb\nc\n", 2),
        ("a\nb\n", "", 2),
    ],
)
def test_changed_lines_are_counted_without_blank_ones(before, after, count):
    assert make.changed_lines(before, after) == count
