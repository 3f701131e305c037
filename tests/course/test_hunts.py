"""The bug hunts of the lessons can be solved: what the source notebook hands in passes, without a false alarm."""

import re

import pytest

from autograder.exercises import registry
from autograder.exercises.contracts import CONVERT
from autograder.hunts import make, pages
from autograder.hunts.judge import HuntSubmission, judge
from autograder.hunts.page_judge import judge_page
from autograder.hunts.task import task
from autograder.sandbox import choose
from course import units
from course.hunts import cells

CELL = re.compile(r'^# %% role="hunt" hunt="([^"]+)" seed=(\d+)\n(.+?)\n(?=# %%)', re.MULTILINE | re.DOTALL)
HUNTS = [
    pytest.param(folder.name, *found, id=f"{folder.name}-{found[0]}")
    for folder in units()
    for found in CELL.findall((folder / "lesson.py").read_text(encoding="utf-8"))
]


def test_every_hunt_of_the_lessons_is_tried():
    lessons = [(folder / "lesson.py").read_text(encoding="utf-8") for folder in units()]
    assert len(HUNTS) == sum(text.count('role="hunt"') for text in lessons) > 0


@pytest.mark.sampled(len(HUNTS))
@pytest.mark.parametrize(("unit", "subject", "seed", "test"), HUNTS)
def test_what_the_lesson_hands_in_solves_its_hunt(unit, subject, seed, test):
    of_page = pages.is_page(subject)
    hunt = (
        pages.draw_page_hunt(subject, unit, int(seed))
        if of_page
        else make.draw(registry.find(subject), unit, int(seed))
    )
    lines = tuple(line for place in hunt.fault_lines for line in place)
    verdict = (judge_page if of_page else judge)(hunt, HuntSubmission(lines, test, hunt.repair), choose(trust=True))
    assert [part.status for part in verdict.parts] == ["passed"] * 3, verdict.parts
    assert verdict.score >= 3.5  # all of the lines and the repair, and of the test what catching this fault is worth


def test_under_another_contract_code_test_and_repair_are_in_its_form():
    subject = "masks.causal@hidden"
    test = "def test_it(answer):\n    assert answer(3).diagonal().all() and not answer(3)[0, 1]\n"
    exercise, own = registry.find(subject), registry.find(subject.partition("@")[0])
    hunt, as_in_course = make.draw(exercise, "02-masks", 1), make.draw(own, "02-masks", 1)
    assert hunt.names == as_in_course.names and hunt.code != as_in_course.code
    assert CONVERT not in hunt.code + hunt.repair
    told = task(hunt, 1)
    assert told["exercise"] == subject and exercise.contract.sentence in told["symptom"]["notes"][-1]
    shown, answer, _ = cells(subject, "02-masks", 1, test, "a test")
    assert f'hunt("{subject}", seed=1' in shown
    exec(answer, space := {"faulty": hunt})
    assert space["repaired_code"]() == hunt.repair and set(space["suspected_lines"]()) == set(hunt.fault_lines[0])
    written = answer[answer.index("def test_it") : answer.index("def repaired_code")]
    handed_in = HuntSubmission(tuple(hunt.fault_lines[0]), written, hunt.repair)
    verdict = judge(hunt, handed_in, choose(trust=True))
    assert [part.status for part in verdict.parts] == ["passed"] * 3, verdict.parts
    own_form = judge(hunt, HuntSubmission(None, test, as_in_course.repair), choose(trust=True))
    assert [part.points for part in own_form.parts] == [0, 0, 0]
