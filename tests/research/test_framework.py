"""How claims are found, run, kept, judged and written down; with a claim of our own that costs nothing."""

from __future__ import annotations

import importlib.metadata
import sys
from dataclasses import dataclass
from types import ModuleType
from xml.etree import ElementTree

import pytest

from research import Claim, Measurement, figure, train
from research import runs as kept_runs
from research.__main__ import main
from tests.command_line import call
from tfkit import registry


@dataclass(frozen=True)
class Size:
    steps: int


def stranger(calls: list[int]) -> ModuleType:
    """A module as another package would have it. `calls` gets the seeds that are run."""
    module = ModuleType("stranger_claim", "A stranger's claim.\n\nMeasured: ten times the seed.")

    def run(seed, size):
        calls.append(seed)
        return {"value": 10.0 * seed, "steps": size.steps}

    def draw(runs):
        drawn, (axis,) = figure()
        axis.plot([run["value"] for run in runs])
        return drawn

    module.CLAIM = Claim("Ten is ten", "Nobody 2026", "a line that climbs", "Nothing else was tried.")
    module.SCALES = {"tiny": Size(1), "small": Size(2), "full": Size(3)}
    module.run, module.draw = run, draw
    module.judge = lambda runs: [Measurement("below 25", [run["value"] for run in runs], at_most=25)]
    module.__file__ = __file__
    return module


@pytest.fixture
def calls(monkeypatch) -> list[int]:
    """The claim `stranger` is installed beside the built-in ones; the seeds that it is run for are listed here."""
    seen: list[int] = []
    entry = importlib.metadata.EntryPoint("stranger", "stranger_claim", kept_runs.GROUP)
    monkeypatch.setitem(sys.modules, "stranger_claim", stranger(seen))
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group == kept_runs.GROUP else [])
    return seen


def research(*arguments) -> str:
    result = call(main, *arguments)
    assert result.status == 0, result.output
    return result.output


def test_ours_and_a_strangers_are_found(calls):
    found = kept_runs.claims()
    assert found["stranger"] == "stranger_claim"
    assert found["recurrence_time"] == "research.claims.recurrence_time"
    assert "Ten is ten" in research("--list")


def test_two_makers_of_a_claim_are_an_error(monkeypatch):
    entry = importlib.metadata.EntryPoint("recurrence_time", "elsewhere", kept_runs.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])
    with pytest.raises(
        ValueError, match=r"claim 'recurrence_time' is defined twice: by research.claims.* and by elsewh"
    ):
        kept_runs.claims()


def test_an_unknown_claim_is_told_before_anything_runs(calls, tmp_path):
    result = call(main, "stranger", "nothing", "--kept", tmp_path)
    assert result.status == 2 and "no claim 'nothing'; available:" in result.output
    assert calls == []


def test_what_is_kept_is_not_run_again(calls, tmp_path):
    research("stranger", "--seeds", 2, "--kept", tmp_path)
    research("stranger", "--seeds", 3, "--kept", tmp_path)
    assert calls == [0, 1, 2]
    research("stranger", "--seeds", 1, "--full", "--kept", tmp_path)
    assert calls == [0, 1, 2, 0], "another scale is another run"


def test_another_size_is_another_run(calls, tmp_path, monkeypatch):
    research("stranger", "--seeds", 1, "--kept", tmp_path)
    monkeypatch.setitem(sys.modules["stranger_claim"].SCALES, "small", Size(20))
    research("stranger", "--seeds", 1, "--kept", tmp_path)
    assert calls == [0, 0]


def test_an_interrupt_keeps_what_was_done(calls, tmp_path, monkeypatch):
    module = sys.modules["stranger_claim"]
    run = module.run

    def interrupted(seed, size):
        if seed == 1:
            raise KeyboardInterrupt
        return run(seed, size)

    monkeypatch.setattr(module, "run", interrupted)
    result = call(main, "stranger", "--kept", tmp_path)
    assert result.status == 130 and "continues from there" in result.output
    monkeypatch.setattr(module, "run", run)
    research("stranger", "--kept", tmp_path)
    assert calls == [0, 1, 2]


def test_a_spoilt_file_is_named(calls, tmp_path):
    (tmp_path / "stranger.jsonl").write_text('{"seed": 0')
    result = call(main, "stranger", "--kept", tmp_path)
    assert result.status == 2 and "stranger.jsonl, line 1: not a run" in result.output


def test_the_page_says_what_holds_and_what_does_not(calls, tmp_path):
    research("stranger", "--seeds", 3, "--kept", tmp_path, "--write", tmp_path / "docs")
    page = (tmp_path / "docs/reproductions.md").read_text()
    assert "| [stranger](#stranger): **reproduced**, 3 seeds | below 25 | 10 (0 to 20) | ≤ 25 | yes |" in page
    assert "![a line that climbs](images/reproductions/stranger.svg)" in page and "Nothing else was tried." in page
    assert "Not run yet: " in page and "recurrence_time" in page
    research("stranger", "--seeds", 4, "--kept", tmp_path, "--write", tmp_path / "docs")
    page = (tmp_path / "docs/reproductions.md").read_text()
    assert "**not reproduced at this scale**, 4 seeds | below 25 | 15 (0 to 30) | ≤ 25 | **no** |" in page


def test_what_was_not_run_here_stays_on_the_page(calls, tmp_path):
    research("stranger", "--kept", tmp_path, "--write", tmp_path / "docs")
    page = tmp_path / "docs/reproductions.md"
    before = page.read_text()
    again = page.read_text().replace("[stranger](#stranger)", "[recurrence_time](#recurrence_time)")
    page.write_text(again.replace("## stranger", "## recurrence_time"))
    research("stranger", "--kept", tmp_path, "--write", tmp_path / "docs")
    after = page.read_text()
    assert "## recurrence_time" in after and "## stranger" in after and after.count("| below 25 |") == 2
    assert "recurrence_time" not in after[after.index("Not run yet: ") :].partition("\n")[0]
    page.unlink()
    research("stranger", "--kept", tmp_path, "--write", tmp_path / "docs")
    assert page.read_text() == before


def test_the_same_runs_give_the_same_figure(calls, tmp_path):
    for folder in ("one", "two"):
        research("stranger", "--kept", tmp_path, "--write", tmp_path / folder)
    one, two = (tmp_path / folder / "images/reproductions/stranger.svg" for folder in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    text = "".join(ElementTree.parse(one).getroot().itertext())
    assert "Ten is ten" in text and "a line that climbs" in text


def test_a_finding_needs_every_seed_in_its_band():
    assert Measurement("", [1.0, 2.0], at_least=1, at_most=2).holds
    assert not Measurement("", [1.0, 2.1], at_least=1, at_most=2).holds
    assert not Measurement("", [float("nan")], at_least=0).holds
    assert not Measurement("", []).holds
    assert Measurement("", [1], at_least=0.5, at_most=2).band == "0.5 to 2"


def test_an_interrupted_training_is_no_measurement():
    import torch

    def batches(generator):
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        train(torch.nn.Linear(1, 1), batches, steps=1, peak=0.1, seed=0)
