"""The sample of cases that one run takes: one in n of each test, not always the first, and all of them at night."""

from collections import defaultdict
from types import SimpleNamespace

import pytest

from tests.conftest import pytest_collection_modifyitems

TESTS = ["test_a", "test_b", "test_c", "test_d", "test_e", "test_f"]


class Item(SimpleNamespace):
    def get_closest_marker(self, name):
        if name == "slow":
            return pytest.mark.slow.mark if getattr(self, "slow", False) else None
        return pytest.mark.sampled(self.step).mark if name == "sampled" and self.step else None


def sample(items, **options):
    """The items that are left, by test."""
    settings = {"--every-case": False, "--turn": 0} | options
    config = SimpleNamespace(
        getoption=settings.get, hook=SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items))
    )
    left_out, all_of_them = [], len(items)
    pytest_collection_modifyitems(config, items)
    assert len(items) + len(left_out) == all_of_them
    found = defaultdict(list)
    for item in items:
        name, _, case = item.nodeid.partition("[")
        found[name].append(int(case.rstrip("]") or 0))
    return found


def cases(test, count, step):
    return [Item(nodeid=f"{test}[{n}]", step=step) for n in range(count)]


def test_one_in_n_runs_and_tests_begin_at_different_cases():
    found = sample([item for test in TESTS for item in cases(test, 12, 3)])
    assert set(found) == set(TESTS)
    assert all(taken == list(range(taken[0], 12, 3)) for taken in found.values())
    assert {taken[0] for taken in found.values()} == {0, 1, 2}


def test_a_short_list_keeps_a_case_and_one_that_is_named_runs():
    assert all(len(taken) == 1 for taken in sample([i for test in TESTS for i in cases(test, 2, 30)]).values())
    assert sample(cases("test_a", 5, 3)[4:]) == {"test_a": [4]}


def test_at_night_and_without_a_mark_every_case_runs():
    assert sample(cases("test_a", 4, 3), **{"--every-case": True}) == {"test_a": [0, 1, 2, 3]}
    assert sample(cases("test_a", 4, None)) == {"test_a": [0, 1, 2, 3]}


def test_the_sample_turns_so_that_n_turns_see_every_case():
    seen = [
        case for turn in range(20_000, 20_003) for case in sample(cases("test_a", 12, 3), **{"--turn": turn})["test_a"]
    ]
    assert sorted(seen) == list(range(12))


def test_slow_tests_come_first():
    items = [
        Item(nodeid=f"test_{slow}[{n}]", step=None, slow=slow) for n, slow in enumerate([False, True, False, True])
    ]
    sample(items)
    assert [item.slow for item in items] == [True, True, False, False]
