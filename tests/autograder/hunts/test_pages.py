"""Hunts in whole models: made, found, drawn, shown, judged and proved."""

import json

import pytest

from autograder.hunts import pages
from autograder.hunts.judge import HuntSubmission
from autograder.hunts.make import UnknownHunt
from autograder.hunts.page_judge import (
    equivalent_sources,
    judge_page,
    judge_page_repair,
    judge_page_test,
    read_page_test,
)
from autograder.hunts.page_prove import prove_page
from autograder.hunts.page_symptom import page_task
from autograder.sandbox import choose
from tests.models.table import unfinished
from tfkit.tools import read

HUNT = pages.find_page_hunt("page.gpt2/causal_mask_off_by_one")
CAUSAL = """def test_a_later_token_changes_nothing_before_it(page):
    model = page.MODEL(page.Config(vocab_size=20, d_model=16, n_layers=2, n_heads=2, max_length=8)).eval()
    ids = torch.randint(0, 20, (1, 8))
    before = model(ids)
    ids[0, 5] = (ids[0, 5] + 1) % 20
    assert torch.allclose(before[:, :5], model(ids)[:, :5], atol=1e-5), "an earlier output has changed"
"""

LIE = "_gradients = lambda *_: 5"  # of what runs beside a page in its box


@pytest.fixture(scope="module")
def backend():
    return choose(trust=True)


def test_every_page_has_at_least_ten_hunts() -> None:
    counts = {name: len(pages.page_hunts(name)) for name in pages.pages()}
    assert counts.keys() == read.pages().keys() - unfinished() and min(counts.values()) >= 10, counts
    assert sum(counts.values()) > 1800


def test_a_hunt_knows_its_line_and_its_repair() -> None:
    (line,) = HUNT.fault_lines[0]
    assert "tril(diagonal=1)" in HUNT.code.splitlines()[line - 1] and HUNT.changed_lines == 1
    assert HUNT.repair == pages.page("gpt2").source.text and pages.page("page.gpt2").title == "GPT2"


def test_who_names_none_is_helped() -> None:
    with pytest.raises(UnknownHunt, match="no page is called 'gtp2'; similar: gpt2"):
        pages.page("page.gtp2")
    with pytest.raises(UnknownHunt, match="page.gpt2 has no fault called 'absent'"):
        pages.find_page_hunt("page.gpt2/absent")


def test_draws_differ_between_students_and_seeds() -> None:
    drawn = {pages.draw_page_hunt("page.llama", name, seed).id for name in ("ada", "bob", "eve") for seed in range(4)}
    assert len(drawn) > 4
    assert pages.draw_page_hunt("llama", "ada", 1) == pages.draw_page_hunt("page.llama", "ada", 1)


def test_the_symptom_tells_where_it_begins_and_how_it_learns(backend) -> None:
    task = page_task(HUNT, 0, backend)
    seen = json.loads(json.dumps(task))["symptom"]
    told = "It agrees with the published model up to `position`; the first part that differs is `layers.0`."
    assert seen["words"][0] == told
    assert [by <= 1e-6 for _, by in seen["bars"]] == [True, True, False, False, False, False]
    faulty, right = seen["curves"]
    assert faulty[-1] < 0.3 < 1.0 < right[-1]  # too good: it reads the answer
    assert HUNT.fault not in json.dumps({**task, "code": ""})


def test_a_part_that_runs_after_a_wrong_one_is_not_called_wrong(backend) -> None:
    """The decoder's embeddings come after the encoder, and read nothing of it."""
    seen = page_task(pages.find_page_hunt("page.transformer/values_from_key_weights"), 0, backend)["symptom"]
    right = {name: by <= 1e-6 for name, by in seen["bars"]}
    assert not right["encoder.0"] and right["embed (2)"]
    told = "It agrees with the published model up to `embed`; the first part that differs is `encoder.0`."
    assert seen["words"][0] == told


def test_a_fault_of_gradients_alone_is_seen_in_them(backend) -> None:
    seen = page_task(pages.find_page_hunt("page.gpt2/tied_weights_detached"), 0, backend)["symptom"]
    assert seen["seen_in"] == "gradients" and seen["words"][0] == "Its output is that of the published model."
    assert "The gradients of 1 of" in seen["words"][1] and "`embed.weight`" in seen["words"][2]


def test_lines_test_and_repair_together_pass(backend) -> None:
    verdict = judge_page(HUNT, HuntSubmission(HUNT.fault_lines[0], CAUSAL, equivalent_sources(HUNT.page)[2]), backend)
    assert [part.status for part in verdict.parts] == ["passed"] * 3 and verdict.status == "passed"
    test = verdict.parts[1]
    assert "It says: AssertionError: an earlier output has changed (line 6)" in test.sentences
    assert "It passes on right answers in all 3 styles." in test.sentences
    assert 0 < len(test.missed) < 12 and 3.0 < verdict.score < 4.0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("", ""), "behaves as the faulty code did"),
        (("diagonal=1", "diagonal=-1"), "its output differs"),
        (("diagonal=1", "diagonal=7"), "`layers.0` is the first part that differs"),
        (("import math\n", "import math\nraise OSError('no')\n"), "no"),
        (("import math\n", f"import math, page_driver\npage_driver.{LIE}\n"), "no outputs that can be read"),
        (("self.position = nn.Embedding", "self.places = nn.Embedding"), "Missing key"),
    ],
)
def test_what_is_no_repair_earns_nothing_and_is_told_why(change, why, backend) -> None:
    part = judge_page_repair(HUNT, HUNT.code.replace(*change), backend)
    assert part.status == "failed" and part.points == 0 and why in " ".join(part.sentences)


def test_a_test_with_a_false_alarm_earns_nothing(backend) -> None:
    strict = read_page_test("def test_it(page):\n    import inspect\n    assert 'diagonal' in dir(page)\n")
    report = judge_page_test(HUNT, strict, backend)
    assert (report.accepted, report.right, report.others) == (0, 3, 0)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", sorted(pages.pages()))
def test_hunts_of_a_page_are_proved(name: str) -> None:
    """Each is observable, stops nothing, and the page is right in every style."""
    (found,) = prove_page(name, 0, 1, None)
    assert found.complaints == [] and all(proof.observable for proof in found.proofs)
    assert len(found.proofs) >= 10
