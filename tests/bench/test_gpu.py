"""`make gpu` as it can be tried without a card: tiny models on the CPU, and how results are kept."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import tfkit
from autograder.exercises import registry
from bench import gpu, gpu_cases, gpu_lease
from bench.gpu_cases import BenchmarkCase, Setup
from tfkit.hub.loading import shapes_only

ROOT = Path(__file__).parents[2]
TINY = Setup("cpu", tiny=True)


def run(tmp_path, *arguments):
    return gpu.main([*arguments, "--tiny", "--out", str(tmp_path)])


@pytest.mark.skipif(torch.cuda.is_available(), reason="a card is here")
def test_without_a_card_it_says_so_and_writes_nothing(tmp_path, capsys):
    assert gpu.main(["--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "no CUDA device is here" in said and said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_ceilings_are_measured(tmp_path, capsys):
    assert run(tmp_path, "contact", "--only", "product of") == 0
    rows = gpu.Record(tmp_path / "tiny" / "contact.jsonl", gpu.environment(TINY)).rows
    assert len(rows) == 3 and all(row["measured"] > 0 and row["unit"] == "TFLOP/s" for row in rows.values())
    assert "product of 8,192 x 8,192, bf16" in capsys.readouterr().out


@pytest.mark.sampled(2)  # `make gpu TINY=1` measures all sizes
@pytest.mark.parametrize("size", ["gpt2-medium", "longformer-base-4096, 4,096"])
def test_a_size_is_trained_on_both_sides(tmp_path, size):
    pytest.importorskip("transformers")
    assert run(tmp_path, "training", "--only", size) == 0
    (row,) = gpu.Record(tmp_path / "tiny" / "training.jsonl", gpu.environment(TINY)).rows.values()
    assert all(isinstance(row[column], float) for column in gpu_cases.TRAINING_COLUMNS if column != "rows x tokens")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", ["gpt2-xl, 8", "t5-3b, 8"])
def test_a_size_decodes_on_both_sides(tmp_path, size):
    pytest.importorskip("transformers")
    assert run(tmp_path, "decoding", "--only", size) == 0
    (row,) = gpu.Record(tmp_path / "tiny" / "decoding.jsonl", gpu.environment(TINY)).rows.values()
    assert isinstance(row["compiled ms"], float) and isinstance(row["transformers: static, compiled ms"], float)


def test_what_a_step_reads_is_the_decoder_s_weights_and_its_cache():
    size = gpu_cases.DECODED[0]
    model = size.tfkit_model(TINY)
    ids = torch.zeros(2, 4, dtype=torch.int64)
    weights = sum(p.numel() for p in model.parameters()) - model.position.weight.numel()
    cache = model.config.n_layers * 2 * ids.size(0) * (4 + 3) * model.config.d_model
    assert gpu_cases.bytes_read(model, ids, 6) == 4 * (weights + cache)


SIZES = {(size.size, size.length): size for size in gpu_cases.TRAINED}  # whatever their attention
KEPT = {"max_length", "axial_shape", "pad_token_id"}  # what decides how many positions there are


@pytest.mark.parametrize("size", SIZES.values(), ids=lambda size: size.name)
@torch.no_grad()
def test_a_size_has_a_position_for_each_token_that_it_is_trained_with(size):
    """With the positions of the published size, but narrow."""
    small = {name: x for name, x in size.settings(TINY).items() if name not in KEPT}
    small |= {name: size.changes[name] for name in KEPT & size.changes.keys()}
    model = tfkit.from_config(size.size, size.head, **small).eval()
    ids = torch.randint(3, model.config.vocab_size, (1, size.length))
    assert model(input_ids=ids, labels=ids).loss.isfinite()


@pytest.mark.parametrize("size", gpu_cases.DECODED, ids=lambda size: size.size)
def test_a_size_has_a_position_for_each_token_that_it_decodes(size):
    with shapes_only():
        room = tfkit.from_config(size.size, size.head).last_position
    assert room is None or room >= gpu_cases.PROMPT + gpu_cases.NEW


def counted(monkeypatch, *outcomes):
    """A part whose cases give these outcomes, and the names of those that ran."""
    ran = []

    def case(name, outcome):
        def measured(setup):
            ran.append(name)
            if isinstance(outcome, BaseException):
                raise outcome
            return {"measured": outcome}

        return BenchmarkCase(name, measured)

    part = gpu.BenchmarkPart(
        "Part", lambda setup: [case(f"case {i}", x) for i, x in enumerate(outcomes)], ("measured",)
    )
    monkeypatch.setitem(gpu.PARTS, "contact", part)
    return ran


def test_a_failure_is_kept_and_the_others_are_measured(tmp_path, monkeypatch, capsys):
    ran = counted(monkeypatch, 1.0, RuntimeError("CUDA error\nand a page"), 2.0)
    assert run(tmp_path, "contact") == 1 and ran == ["case 0", "case 1", "case 2"]
    assert "| case 1 | failed: RuntimeError: CUDA error |" in capsys.readouterr().out
    assert run(tmp_path, "contact") == 1 and len(ran) == 3  # nothing again
    ran = counted(monkeypatch, 1.0, 3.0, 2.0)
    assert run(tmp_path, "contact", "--retry") == 0 and ran == ["case 1"]


def slow_case(monkeypatch, case):
    part = gpu.BenchmarkPart(
        "Part", lambda setup: [case, BenchmarkCase("after", lambda setup: {"measured": 1.0})], ("measured",)
    )
    monkeypatch.setitem(gpu.PARTS, "contact", part)


def test_a_case_that_takes_too_long_keeps_its_figures_and_stops_no_other(tmp_path, monkeypatch):
    def slow(setup):
        setup.figures["step ms"] = 2.0
        time.sleep(20)

    slow_case(monkeypatch, BenchmarkCase("slow", slow, limit=0.2))
    began = time.monotonic()
    assert run(tmp_path, "contact") == 1 and time.monotonic() - began < 10
    rows = gpu.Record(tmp_path / "tiny" / "contact.jsonl", gpu.environment(TINY)).rows
    assert rows["slow"]["error"] == "TimeoutError: not done after 0.2 s" and rows["slow"]["step ms"] == 2.0
    assert rows["after"]["measured"] == 1.0


def test_a_figure_that_takes_too_long_is_a_cell_and_the_case_goes_on(tmp_path, monkeypatch):
    def figures(setup):
        setup.figures["one"] = gpu_cases.attempt(lambda: time.sleep(20), setup)
        setup.figures["two"] = gpu_cases.attempt(lambda: 3.0, setup)
        return setup.figures

    slow_case(monkeypatch, BenchmarkCase("slow", figures))
    assert run(tmp_path, "contact", "--limit", "0.2") == 0
    rows = gpu.Record(tmp_path / "tiny" / "contact.jsonl", gpu.environment(TINY)).rows
    assert rows["slow"]["one"] == "failed: TimeoutError: not done after 0.2 s" and rows["slow"]["two"] == 3.0


def test_an_outer_limit_holds_inside_an_inner_one():
    handler, before = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0]  # pytest-timeout's
    with pytest.raises(TimeoutError, match="not done after 0.1 s"), gpu_cases.time_limit(0.1):
        gpu_cases.attempt(lambda: time.sleep(20), Setup("cpu", tiny=True))
        raise AssertionError("the next figure was begun")
    assert signal.getsignal(signal.SIGALRM) == handler
    assert signal.getitimer(signal.ITIMER_REAL)[0] == pytest.approx(before, abs=10)


def test_a_reason_fits_into_a_cell():
    assert gpu_cases.first_line(RuntimeError("a" * 300 + "\nand more")) == "RuntimeError: " + "a" * 79 + "…"


def test_what_was_never_measured_comes_first(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("| case | measured |\n|---|---|\n| one | 1.0 |\n| two |  |\n| three | failed: no |\n")
    monkeypatch.setattr(gpu, "PAGE", page)
    cases = [BenchmarkCase(name, lambda setup: {}) for name in ("one", "two", "three", "four")]
    assert [case.name for case in gpu.unmeasured_first(cases)] == ["two", "four", "one", "three"]


def test_few_files_are_written(tmp_path, monkeypatch):
    """Of a machine that is lent only a few come back."""
    case = lambda setup: [BenchmarkCase("one", lambda setup: {"measured": 1.0})]
    for name in gpu.PARTS:
        monkeypatch.setitem(gpu.PARTS, name, gpu.BenchmarkPart(name, case, ("measured",)))
    assert run(tmp_path) == 0
    names = {file.name for file in (tmp_path / "tiny").iterdir()}
    assert names == {"contact.jsonl", "training.jsonl", "decoding.jsonl", "grading.jsonl", "tables.md"}
    assert (tmp_path / "tiny" / "tables.md").read_text().count("| one | 1 |") == 4


def test_a_profile_lists_the_kernels_of_a_token(tmp_path):
    assert run(tmp_path, "decoding", "--only", "kernels") == 0
    (row,) = gpu.Record(tmp_path / "tiny" / "decoding.jsonl", gpu.environment(TINY)).rows.values()
    assert row["kernels"] and row["kernels ms"] > 0 and row["launches"] > 1


def test_a_run_that_was_killed_goes_on_after_the_case_that_it_was_in(tmp_path, monkeypatch, capsys):
    ran = counted(monkeypatch, 1.0, KeyboardInterrupt(), 2.0)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "contact")
    ran = counted(monkeypatch, 1.0, 5.0, 2.0)
    assert run(tmp_path, "contact") == 1 and ran == ["case 2"]
    assert "| case 1 | failed: cut off |" in capsys.readouterr().out


def test_no_case_begins_when_the_time_is_over(tmp_path, monkeypatch, capsys):
    ran = counted(monkeypatch, 1.0, 2.0)
    assert run(tmp_path, "contact", "--minutes", "-1") == 1 and ran == []
    assert "2 cases did not fit into the time" in capsys.readouterr().err


def test_figures_of_another_machine_are_not_mixed_in(tmp_path, monkeypatch, capsys):
    counted(monkeypatch, 1.0)
    file = tmp_path / "tiny" / "contact.jsonl"
    file.parent.mkdir()
    file.write_text(json.dumps(gpu.environment(TINY) | {"device": "another"}) + "\n")
    assert run(tmp_path, "contact") == 2
    assert "figures of another device: choose another --out" in capsys.readouterr().err


def test_the_page_lists_every_case_and_says_what_was_not_measured(tmp_path):
    text = (ROOT / "docs" / "benchmarks-gpu.md").read_text(encoding="utf-8")
    for part in (gpu.HEADER, gpu.GOALS, gpu.OTHER_CARDS.read_text(encoding="utf-8")):
        assert part.strip() in text and part.strip() in gpu.page(tmp_path), (
            "python -m bench.gpu --page docs/benchmarks-gpu.md"
        )
    for part in gpu.PARTS.values():
        assert all(f"| {case.name} |" in text for case in part.cases(Setup("cuda", tiny=False)))


def test_a_page_is_not_written_from_nothing(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("figures", encoding="utf-8")
    with pytest.raises(SystemExit):
        gpu.main(["--out", str(tmp_path / "gpu"), "--page", str(page)])
    assert "has no results, and the page would lose its figures" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "figures"


# -- a lease ----------------------------------------------------------------------------------------------------------
def parts_of(monkeypatch, **cases):
    """Every part has these cases, by its name: {name: what it does}; the names of those that ran."""
    ran = []

    def measured(name, do):
        return BenchmarkCase(name, lambda setup: ran.append(name) or do())

    for part in gpu.PARTS:
        own = [measured(name, do) for name, do in cases.get(part, {}).items()]
        monkeypatch.setitem(gpu.PARTS, part, gpu.BenchmarkPart(part, lambda setup, own=own: own, ("measured",)))
    return ran


def test_a_lease_measures_the_most_wanted_first_whatever_its_part(tmp_path, monkeypatch):
    one = lambda: {"measured": 1.0}
    ran = parts_of(
        monkeypatch,
        contact={"something else": one, "copy": one},
        training={"gpt2-medium, 1,024 tokens": one, "llama-3.2-1b, 2,048 tokens": one},
        decoding={"llama-3.2-1b, 1 row": one},
    )
    assert run(tmp_path, "--lease", "1") == 0
    assert ran == [
        "copy", "llama-3.2-1b, 2,048 tokens", "llama-3.2-1b, 1 row", "gpt2-medium, 1,024 tokens", "something else",
    ]  # fmt: skip
    found = json.loads((tmp_path / "tiny" / "results.json").read_text())
    assert found["rows"]["contact"]["copy"]["measured"] == 1.0 and found["left"] == []
    assert found["environment"] == gpu.environment(TINY)
    assert run(tmp_path, "--lease", "1") == 0 and len(ran) == 5  # nothing again


def test_what_does_not_fit_is_left_for_the_next_lease(tmp_path, monkeypatch, capsys):
    ran = parts_of(monkeypatch, contact={"copy": lambda: time.sleep(1) or {"measured": 1.0}, "b": dict})
    assert run(tmp_path, "--lease", "0.02") == 0 and ran == ["copy"]
    assert "1 cases did not fit into the lease" in capsys.readouterr().err
    assert json.loads((tmp_path / "tiny" / "results.json").read_text())["left"] == ["b"]
    assert run(tmp_path, "--lease", "1") == 0 and ran == ["copy", "b"]


def test_a_row_of_a_lease_has_forty_seconds_and_tests_two_minutes():
    given = {}
    records = {part: type("R", (), {"rows": {}, "is_done": lambda *_: False})() for part in gpu.PARTS}
    cases = [("contact", BenchmarkCase(name, dict)) for name in ("copy", "answers in boxes")]
    gpu_lease.run(cases, records, TINY, 14, lambda case, record, setup, most: given.update({case.name: most}), {})
    assert given == {"copy": 40.0, "answers in boxes": 120.0}
    gpu_lease.run(cases, records, TINY, 0.5, lambda case, record, setup, most: given.update({case.name: most}), {})
    assert 29 < given["copy"] <= 30  # nothing runs beyond the end


def test_a_row_has_the_time_that_it_took_by_the_page_and_more():
    took = gpu.seconds_on_page()
    for name, seconds in {"gpt2-xl, 1 row": 126, "bart-large, 1 row": 51.1}.items():
        assert took[name] == seconds
        row, figure = gpu_lease.limits_of(BenchmarkCase(name, dict), took[name], gpu_lease.FIGURE)
        assert row > seconds and figure > gpu_lease.FIGURE
    assert gpu_lease.limits_of(BenchmarkCase("new", dict), 0.0, gpu_lease.FIGURE) == (40.0, 15.0)


def test_what_was_not_done_in_its_time_is_asked_again_in_the_next_lease(tmp_path, monkeypatch):
    def late():
        raise TimeoutError("not done after 40 s")

    def partly():
        return {"one": "failed: TimeoutError: not done after 15 s", "two": 1.0}

    ran = parts_of(monkeypatch, contact={"copy": late, "b": partly, "c": lambda: 1 / 0})
    assert run(tmp_path, "--lease", "1") == 1 and ran == ["copy", "b", "c"]
    assert json.loads((tmp_path / "tiny" / "results.json").read_text())["left"] == ["copy", "b"]
    ran = parts_of(monkeypatch, contact={name: lambda: {"measured": 1.0} for name in ("copy", "b", "c")})
    run(tmp_path, "--lease", "1")
    assert ran == ["copy", "b"]  # what failed for another reason waits for --retry
    assert json.loads((tmp_path / "tiny" / "results.json").read_text())["left"] == []


def test_tests_on_a_card_share_its_cores_between_processes_and_boxes():
    assert gpu_cases.in_processes(16) == ["-n", "8", "--dist", "worksteal"] == gpu_cases.in_processes(64)
    assert gpu_cases.in_processes(2) == gpu_cases.in_processes(1) == []


def test_boxes_on_a_card_judge_a_right_and_a_wrong_answer_of_every_exercise():
    command = ["-q", "--collect-only", "-m", "gpu and not slow", "-p", "no:cacheprovider", *gpu_cases.ANSWERS]
    done = subprocess.run([sys.executable, "-m", "pytest", *command], cwd=ROOT, capture_output=True, text=True)
    asked = set(re.findall(r"in_a_box_on_the_card\[(.+)-(right|wrong)\]", done.stdout))
    assert asked == {(exercise.id, kind) for exercise in registry.exercises() for kind in ("right", "wrong")}, done


def test_each_file_with_tests_for_a_card_is_asked():
    files = {str(file.relative_to(ROOT)) for file in (ROOT / "tests").rglob("test_*.py")
             if "\n@pytest.mark.gpu\n" in file.read_text(encoding="utf-8")}  # fmt: skip
    assert files == {*gpu_cases.LAWS, *gpu_cases.KERNELS, *gpu_cases.ANSWERS}


def test_every_wanted_case_exists():
    names = {case.name for part in gpu.PARTS.values() for case in part.cases(Setup("cuda", tiny=False))}
    assert set(gpu_lease.PRIORITY) <= names and set(gpu_lease.TESTS) <= names


def test_the_kernels_of_the_slowest_step_are_kept(tmp_path, monkeypatch):
    figures = {"bert-large-uncased, 512 tokens": 1.2, "gpt2-medium, 1,024 tokens": 0.8, "t5-large, 512 tokens": None}
    given = {name: lambda value=value: {"transformers / tfkit": value} for name, value in figures.items()}
    parts_of(monkeypatch, training=given)
    assert run(tmp_path, "--lease", "1") == 0
    row = json.loads((tmp_path / "tiny" / "results.json").read_text())["rows"]["training"][gpu_lease.SLOWEST]
    assert row["size"] == "gpt2-medium, 1,024 tokens" and row["kernels"] and row["kernels ms"] > 0
