"""A token's time is set against the reading of the weights that it reads; sizes are stored one by one."""

import json
import shutil
from datetime import date
from types import SimpleNamespace

import pytest

from bench import kept, tokens
from bench import models as bench

pytest.importorskip("transformers")


def test_a_token_is_measured_against_the_reading_of_what_it_reads():
    sizes = {"n_embd": 64, "n_layer": 2, "n_head": 2, "vocab_size": 2000, "n_positions": 64}
    row = bench.BenchmarkRow("tiny", "GPT2Config", "GPT2LMHeadModel", sizes, generates=True)
    found = tokens.measure(row, turns=2, new=3)
    dtypes = ("float32", "bfloat16", "int8")
    reading, own = [f"reading, {dtype}" for dtype in dtypes], [f"tfkit, {dtype}" for dtype in dtypes]
    assert list(found) == [*reading, "transformers", *own] and all(found[name] > 0 for name in reading)
    known = {"reading, float32": 2.0, "reading, int8": 0.5, "tfkit, float32": 3.0, "llama.cpp, Q8_0": 1.0}
    assert tokens.lines("gpt2", known) == [
        "| gpt2, reading, float32 | 2.0 | 1.00 | 1.00 |", "| gpt2, reading, int8 | 0.5 | 1.00 | 0.25 |",
        "| gpt2, tfkit, float32 | 3.0 | 1.50 | 1.50 |", "| gpt2, llama.cpp, Q8_0 | 1.0 | 2.00 | 0.50 |",
    ]  # fmt: skip
    with pytest.raises(SystemExit):
        tokens.main(["bert-base-uncased"])


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """The sizes that were measured, by a benchmark of tokens that measures nothing, in a folder of its own."""
    names = []

    def figures(row, turns, new, compile, inductor):
        names.append(row.name)
        return {"reading, float32": 2.0, "tfkit, float32": 3.0}

    monkeypatch.setattr(tokens, "measure", figures)
    monkeypatch.setattr(tokens, "compiling", lambda row: names.append(f"{row.name}!") or {"first": 50.2, "again": 9.8})
    monkeypatch.setattr(kept, "code", lambda folders: "0123456789ab")
    monkeypatch.setattr(kept, "commit", lambda folders: "c0ffee")
    monkeypatch.setattr(kept, "date", SimpleNamespace(today=lambda: date(2026, 11, 5)))
    monkeypatch.chdir(tmp_path)
    return names


def test_tokens_write_their_section_and_go_on_where_they_were_cut_short(asked, tmp_path, capsys):
    file = tmp_path / "benchmarks.md"
    file.write_text(f"# Benchmarks\n\nText.\n\n{tokens.HEADING}\n\nold\n\n## Loading\n\nkept\n", encoding="utf-8")
    common = ["--kept", "kept.jsonl", "--write", str(file)]
    assert tokens.main(["smollm2-135m", *common]) == 0 == tokens.main(["smollm2-135m", "gpt2", "--resume", *common])
    assert asked == ["smollm2-135m", "gpt2"]
    page = file.read_text(encoding="utf-8")
    assert "| smollm2-135m, tfkit, float32 | 3.0 | 1.50 | 1.50 |" in page and "| gpt2, tfkit, float32 |" in page
    assert page.startswith("# Benchmarks\n\nText.\n") and page.endswith("## Loading\n\nkept\n") and "old" not in page
    assert "on 2026-11-05: commit c0ffee, " in page and kept.processor() in page and tokens.COMPILING_HEAD not in page
    tokens.main(["gpt2", "--tokens", "5", *common])  # other figures than those that are stored, which stay
    assert asked == ["smollm2-135m", "gpt2", "gpt2"] and "smollm2" not in file.read_text(encoding="utf-8")
    tokens.main(["smollm2-135m", "gpt2", "--resume", *common])
    assert len(asked) == 3
    capsys.readouterr()


def test_some_sizes_do_not_replace_what_is_stored_of_all(asked, tmp_path, capsys):
    tokens.main(["--compile"])
    whole = (tmp_path / "build/bench-tokens-compile.jsonl").read_text(encoding="utf-8")
    names = [row.name for row in tokens.SIZES]
    stored = [json.loads(line)["name"] for line in whole.splitlines()]
    assert stored == [*names, *(f"{name}, compiling" for name in names)]
    tokens.main(["gpt2", "smollm2-135m", "--compile", "--inductor"])
    tokens.main([])
    assert {path.name for path in (tmp_path / "build").iterdir()} == {
        "bench-tokens-compile.jsonl", "bench-tokens-smollm2-135m-gpt2-compile-inductor.jsonl", "bench-tokens.jsonl",
    }  # fmt: skip
    assert (tmp_path / "build/bench-tokens-compile.jsonl").read_text(encoding="utf-8") == whole
    capsys.readouterr()


def test_how_long_compiling_takes_is_told_beside(asked, tmp_path, capsys):
    tokens.main(["gpt2", "--compile", "--write", str(tmp_path / "page.md")])
    assert asked == ["gpt2", "gpt2!"]
    assert "| gpt2 | 50 | 10 |" in (tmp_path / "page.md").read_text(encoding="utf-8") and capsys.readouterr()


# in place of seconds, which depend on the machine's load
GRAPHS_COMPILED = "torch._dynamo.utils.counters['inductor']['fxgraph_cache_miss']"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch's compiler for the CPU needs g++")
def test_a_second_process_finds_what_the_first_has_compiled(monkeypatch):
    small = "*sys.argv[1:], d_model=16, n_layers=1, n_heads=2, vocab_size=50"
    script = tokens.COMPILING.replace("*sys.argv[1:]", small).replace("time.monotonic() - began", GRAPHS_COMPILED)
    assert GRAPHS_COMPILED in script
    monkeypatch.setattr(tokens, "COMPILING", script)
    found = tokens.compiling(next(row for row in tokens.SIZES if row.name == "gpt2"))
    assert found["again"] == 0 < found["first"]
