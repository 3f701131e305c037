"""The record of a student's answers: what is damaged in it, or written by another release, is no error anywhere."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extension.recall.conftest import CARDS
from tfkit_lab.recall import record, schedule
from tfkit_lab.recall.record import FILE, OLD, Record

NOW = datetime(2026, 10, 1, 9, tzinfo=UTC)
STATE = schedule.review(None, "right", NOW)
OPENING = {"at": NOW.isoformat(), "cards": ["n"], "given": {"n": {"right": True, "answer": 8}}}


def put(folder, text):
    (folder / FILE).parent.mkdir(exist_ok=True)
    (folder / FILE).write_text(text if isinstance(text, str) else json.dumps(text))


def test_what_is_written_is_read_again(tmp_path):
    record.write(tmp_path, Record({"n": STATE}, {"04-d": OPENING}))
    assert record.read(tmp_path) == Record({"n": STATE}, {"04-d": OPENING})
    assert record.read(tmp_path / "nowhere") == Record()


DAMAGED = ["", "{", "[1, 2]", "[" * 5000, "\x00", '{"format": 1}', '{"format": "x"}',
           '{"format": 1, "cards": [], "openings": {}}', '{"format": 2, "cards": {}, "openings": {}}']  # fmt: skip


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_or_foreign_file_is_one_line_and_is_set_aside_when_the_next_answer_is_stored(tmp_path, text):
    put(tmp_path, text)
    found = record.read(tmp_path)
    assert found.states == {} and "begins anew" in found.note and "\n" not in found.note
    assert (tmp_path / FILE).read_text() == text  # reading changes nothing
    found.states["n"] = STATE
    record.write(tmp_path, found)
    assert (tmp_path / OLD).read_text() == text
    assert record.read(tmp_path) == Record({"n": STATE})


def test_a_second_damaged_file_does_not_take_the_place_of_the_first(tmp_path):
    for number, text in enumerate(("{", "[", "]")):
        put(tmp_path, text)
        found = record.read(tmp_path)
        old = OLD.with_name(OLD.name + (str(number + 1) if number else ""))
        assert found.note.endswith(f"{old.as_posix()}.")
        record.write(tmp_path, found)
        assert (tmp_path / old).read_text() == text


@pytest.mark.parametrize("change", [{"due": "soon"}, {"due": "2026-10-01"}, {"stability": None}, {"stability": "NaN"},
                                    {"state": 9}, {"difficulty": -1}, {"last_review": None}, {"step": 4},
                                    {"state": 1}, {"state": 3}, {"step": 0}, {"difficulty": 11}, {"stability": "5"},
                                    {"due": "9999-12-31T23:59:59+00:00"}, {"due": "2020-01-01T00:00:00+00:00"},
                                    {"last_review": "2026-10-01T09:00:00+02:00"}])  # fmt: skip
def test_a_damaged_entry_costs_only_itself(tmp_path, change):
    put(tmp_path, {"format": 1, "cards": {"bad": {**STATE, **change}, "n": STATE}, "openings": {"04-d": {"at": 3}}})
    assert record.read(tmp_path) == Record({"n": STATE})


def test_a_link_is_not_followed(tmp_path):
    put(tmp_path, {"format": 1, "cards": {"n": STATE}, "openings": {}})
    other = tmp_path / "other"
    (other / ".tfkit").mkdir(parents=True)
    (other / FILE).symlink_to(tmp_path / FILE)
    assert record.read(other).states == {} and "it is a link" in record.read(other).note


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*STATE, "at", "cards", "given"]), inner)
    ),
    max_leaves=8,
)


TIMES = st.sampled_from(
    [
        STATE["due"],
        NOW.isoformat(),
        "0001-01-01T00:00:00+00:00",
        "9999-12-31T23:59:59+00:00",
        "2026-10-01T09:00:00+02:00",
    ]
)
NUMBERS = st.sampled_from([0, -1, 1e-9, 0.5, 1, 5.5, 10, 11, 1e5, 1e300, True, "5"])
NEAR = st.fixed_dictionaries(  # a state, of which anything may be changed
    {
        "state": st.sampled_from([2, 1, 3, 2.0]),
        "step": st.sampled_from([None, 0]),
        "stability": NUMBERS,
        "difficulty": NUMBERS,
        "due": TIMES,
        "last_review": TIMES,
    }
)


@given(changed=NEAR, kept=st.sets(st.sampled_from([*STATE])), rating=st.sampled_from(schedule.RATINGS))
def test_whatever_is_changed_in_a_state_it_is_left_out_or_can_be_gone_on_from(tmp_path_factory, changed, kept, rating):
    folder = tmp_path_factory.mktemp("record")
    put(folder, {"format": 1, "cards": {"n": {**changed, **{key: STATE[key] for key in kept}}}, "openings": {}})
    states = record.read(folder).states
    for _ in range(3):
        schedule.choose(CARDS, states, NOW, "ada")
        states = {name: schedule.review(state, rating, NOW) for name, state in states.items()}
        record.write(folder, Record(states))
        assert record.read(folder).states == states
    assert all(schedule.due_at(state).astimezone() for state in states.values())


@given(
    cards=st.dictionaries(st.text(max_size=4), JSON, max_size=3), openings=st.dictionaries(st.text(max_size=4), JSON)
)
def test_whatever_is_in_it_what_is_read_can_be_gone_on_from(tmp_path_factory, cards, openings):
    folder = tmp_path_factory.mktemp("record")
    put(folder, {"format": 1, "cards": {**cards, "n": STATE}, "openings": openings})
    found = record.read(folder)
    assert found.states["n"] == STATE and found.next_due() is not None
    for state in found.states.values():
        schedule.review(state, "wrong", NOW)
    assert all(found.opening(unit, NOW) is None or found.openings[unit]["cards"] is not None for unit in found.openings)
