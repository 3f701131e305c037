"""What the capstone's judge believes, and what it refuses: each with its sentence. Seconds of training do for that."""

import re
import time
from pathlib import Path

import pytest
import torch

from autograder import sandbox
from autograder.capstone import SyntheticLanguage
from autograder.capstone.judge import CapstoneError, check_distribution, judge, leaderboard_choices
from autograder.settings.capstone import Terms

SUBMISSIONS = Path(__file__).parent / "submissions"
TERMS = Terms(seconds=2, letters=40_000, windows=12, length=40, bands=((1.7, 4), (0.1, 10)))
REFUSED = {  # what is said, as a pattern; None: measured, and worth nothing
    "unnormalised": r"12 prefixes of 1 bytes: the probabilities of a row sum to 256 instead of 1",
    "overruns": r"`fit` was stopped after 2.5 s of processor time; the budget is 2 s",
    "trains_in_log_probs": r"`fit` and `log_probs` together used \d+ s of processor time, and 6 s are allowed",
    "goes_on_in_a_child": r"`fit` and `log_probs` together used \d+ s of processor time, and 6 s are allowed",
    "learns_from_the_questions": "the same prefix got other probabilities later, when it was the only row",
    "rows_see_each_other": "the same prefix got other probabilities later, when it was the only row",
    "rules_a_byte_out": "a byte that occurred has probability 0",
    "knows_another_text": None,
    "reads_files": None,
    "peeks_ahead": None,
}


def judged(path, seed="a"):
    return judge([path.read_text()], sandbox.choose(trust=True), TERMS, seed)


def test_an_honest_model_is_measured():
    found = judged(SUBMISSIONS / "right" / "counts.py")
    assert not found.reason and (found.points, found.of) == (4, 10)
    assert 0.5 < found.floor < 0.65 and found.floor < found.bits < found.floor + 1.7
    assert found.excess == found.bits - found.floor


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_is_none_earns_nothing(name):
    found = judged(SUBMISSIONS / "wrong" / f"{name}.py")
    assert found.points == 0
    if REFUSED[name] is None:
        assert not found.reason and found.excess > 1.7
    else:
        assert found.bits is None and re.search(REFUSED[name], found.reason), found.reason


def test_the_budget_holds_where_no_control_group_counts(monkeypatch):
    """The box's time was read as 0 there, so that training in `log_probs` was free."""
    monkeypatch.setattr("autograder.sandbox.cgroup._mounts", dict)
    found = judged(SUBMISSIONS / "wrong" / "trains_in_log_probs.py")
    assert found.bits is None and re.search(REFUSED["trains_in_log_probs"], found.reason), found.reason


def test_each_wrong_answer_is_tried():
    assert {path.stem for path in (SUBMISSIONS / "wrong").glob("*.py")} == REFUSED.keys()


def test_fewer_bits_than_the_text_has_are_no_success(monkeypatch):
    """A judge that gave the answers away would be found out by the text's own bits."""
    whole = SyntheticLanguage("a")
    monkeypatch.setattr("autograder.capstone.judge.SyntheticLanguage", lambda seed: Costly(whole))
    found = judged(SUBMISSIONS / "right" / "counts.py")
    assert found.points == 0 and "no model can predict so well" in found.reason


class Costly:
    """The language, said to hold six times as many bits as it does."""

    def __init__(self, language):
        self.language = language

    def text(self, size, seed):
        text, bits = self.language.text(size, seed)
        return text, 6 * bits


def test_nothing_is_sent_before_it_was_told():
    """Prefixes grow by a byte; what is asked holds nothing of what is still to be told."""
    from autograder.capstone.judge import _bits

    pieces = torch.randint(97, 122, (4, 10))

    class Model:
        def __init__(self):
            self.lengths = []

        def method(self, name, prefixes):
            assert name == "log_probs" and prefixes.untyped_storage().size() == 8 * prefixes.numel()
            self.lengths.append(tuple(prefixes.shape))
            return torch.full((len(prefixes), 256), 1 / 256).log()

    model = Model()
    assert _bits(model, pieces, lambda: None) == pytest.approx(8.0)
    assert model.lengths[:9] == [(4, t) for t in range(1, 10)]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "must be a floating-point tensor, and is a NoneType"),
        (torch.zeros(2, 256, dtype=torch.long), "must be a floating-point tensor"),
        (torch.zeros(2, 255), r"must have shape \[2,256\], and has \[2, 255\]"),
        (torch.full((2, 256), float("nan")), "contains NaN"),
        (torch.full((2, 256), float("inf")), "sum to inf instead of 1"),
    ],
)
def test_what_is_no_distribution_is_named(answer, said):
    with pytest.raises(CapstoneError, match=said):
        check_distribution(answer, 2, 3)


def test_wishes_are_read_and_not_run():
    assert leaderboard_choices(["LEADERBOARD = True\nLEADERBOARD_NAME = ' Ada  L. '"]) == {
        "listed": True,
        "called": "Ada L.",
    }
    assert leaderboard_choices(["LEADERBOARD = 1 > 0", "not python("]) == {"listed": False, "called": ""}


def test_without_a_class_it_is_said():
    found = judge(["1 / 0"], sandbox.choose(trust=True), TERMS)
    assert found.reason.startswith("no class `LanguageModel` is defined: a cell stopped with") and found.points == 0


@pytest.mark.nightly
@pytest.mark.slow
def test_the_lessons_own_model_reaches_its_bands():
    """Two minutes of the processor, as students have them."""
    import course
    from course.notebook import source_notebook

    (unit,) = [path for path in course.units() if path.name == "17-capstone"]
    roles = ("setup", "project")
    cells = [cell for cell in source_notebook(unit).cells if cell.metadata.get("tfkit", {}).get("role") in roles]
    found = judge([cell.source for cell in cells], sandbox.choose(trust=True), Terms(), "b")
    assert not found.reason and found.points >= 8, found


def test_capstone_ast_bomb():
    """4 MB of source took 12.8 s and 3.7 GB in the grader before any box had started."""
    started = time.process_time()
    assert leaderboard_choices(["x = [" + "1," * 2_000_000 + "]", "LEADERBOARD = True"])["listed"] is True
    assert leaderboard_choices(["-" * 50_000 + "1"]) == {"listed": False, "called": ""}
    assert time.process_time() - started < 1
