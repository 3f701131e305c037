"""The bug hunts of the lessons can be solved: what the source notebook hands in passes, without a false alarm."""

import re

import pytest

from autograder.exercises import registry
from autograder.hunts import make, pages
from autograder.hunts.judge import HuntSubmission, judge
from autograder.hunts.page_judge import judge_page
from autograder.sandbox import choose
from course import units

CELL = re.compile(r'^# %% role="hunt" hunt="([^"]+)" seed=(\d+)\n(.+?)\n(?=# %%)', re.MULTILINE | re.DOTALL)
HUNTS = [
    pytest.param(folder.name, *found, id=f"{folder.name}-{found[0]}")
    for folder in units()
    for found in CELL.findall((folder / "lesson.py").read_text(encoding="utf-8"))
]


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
