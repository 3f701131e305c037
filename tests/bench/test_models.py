"""The benchmark compares equal work: the two sides agree before they are timed; the floor counts what is multiplied."""

import platform
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import tfkit
from bench import collators, kept, loading, tokens, transformer_xl
from bench import models as bench
from tests.models.table import ours, unfinished
from tfkit.hub.loading import shapes_only
from tfkit.tools.memory import peak_bytes

pytest.importorskip("transformers")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("row", bench.ROWS, ids=lambda row: row.name)
def test_the_two_sides_agree(row, tmp_path):
    reference, candidate = bench.pair(row, str(tmp_path), "cpu")
    ids = torch.randint(3, bench.VOCAB, (2, 16))
    inputs = {"input_ids": ids, "labels": ids} if row.reads == "ids" else bench.make_inputs(row, 16, "cpu")
    assert bench._agree(row, reference, candidate, inputs) <= 1e-3


def test_every_architecture_has_a_row_or_a_reason():
    """The page of the benchmark says why these have none."""
    none = {"rnn_seq2seq", "transformer", "gpt3", "transformer_xl", "xlm_prophetnet", "mmbt", "dpr", "rag"}
    none |= {"bert_generation", "llada", *unfinished()}
    assert {row.name for row in bench.ROWS} | none == ours()
    assert not {row.name for row in bench.ROWS} & none


def test_a_wrong_model_is_not_timed(tmp_path):
    row = next(row for row in bench.ROWS if row.name == "gpt2")
    reference, candidate = bench.pair(row, str(tmp_path), "cpu")
    next(candidate.parameters()).data.mul_(1.5)
    ids = torch.randint(3, bench.VOCAB, (2, 16))
    with pytest.raises(ValueError, match="gpt2: the logits differ"):
        bench._agree(row, reference, candidate, {"input_ids": ids, "labels": ids})


FAULTS = """
import resource, sys, torch
from bench import models as bench
if sys.argv[1] == "kept":
    bench.disable_malloc_trimming()
for _ in range(3):  # 64 MB each: as in a benchmark, the first calls find their place in the heap
    torch.ones(2**24)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(4):
    torch.ones(2**24)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc is not glibc's: nothing is set")
def test_freed_pages_are_kept():
    def faults(how):
        done = subprocess.run([sys.executable, "-c", FAULTS, how], capture_output=True, text=True, check=True)
        return int(done.stdout)

    default = faults("default")
    assert default > 100, "huge pages may make them few, but each block is fetched anew"
    assert faults("kept") < default / 10


def test_the_floor_counts_products():
    a, b = torch.ones(4, 5), torch.ones(5, 6)
    with bench._Products() as products:
        torch.nn.functional.linear(a @ b, torch.ones(7, 6), torch.ones(7))
        torch.nn.functional.scaled_dot_product_attention(*(torch.ones(1, 2, 3, 8) for _ in range(3)))
    assert products.counts[(4, 5), (5, 6)] == 1
    assert products.counts[(4, 6), (6, 7)] == 1
    assert sum(products.counts.values()) == 4


def test_the_floor_multiplies_shared_keys_once_for_each_head_of_queries():
    q, k = torch.randn(1, 4, 5, 8), torch.randn(1, 2, 5, 8)
    with bench._Products() as products:
        torch.nn.functional.scaled_dot_product_attention(q, k, k, enable_gqa=True)
    assert products.counts == {((1, 4, 5, 8), (1, 4, 8, 5)): 1, ((1, 4, 5, 5), (1, 4, 5, 8)): 1}


def test_written_bytes_are_those_of_new_tensors_and_in_place_ones():
    a, b = torch.ones(8, 4), torch.ones(4)
    assert bench.bytes_written(lambda: a.t().view(4, 8)) == 0
    assert bench.bytes_written(lambda: (a + b).mul_(2)) == 2 * 8 * 4 * 4
    assert bench.bytes_written(lambda: torch.add(a, b, out=torch.empty_like(a))) == 8 * 4 * 4  # once, not as reserved


def test_a_time_under_one_is_measured_again(monkeypatch):
    asked, times = [], iter([(1.0, 2.0), (1.5, 0.5), (3.0, 1.0)])
    monkeypatch.setattr(bench, "best_times", lambda one, other, turns, device: asked.append(turns) or next(times))
    assert bench.ratio(None, None, 3) == (2.0, 0.5)  # each side at its best of both measurements
    assert bench.ratio(None, None, 3) == (3.0, 1.0)
    assert asked == [3, 9, 3]


def test_collators_are_timed_on_the_same_rows():
    seen = []

    def once(one, other):
        seen.append([{k: tuple(v.shape) for k, v in run().items()} for run in (one, other)])
        return 2.0, 1.0

    table = collators.table(lambda one, other, turns: once(one, other), 1)
    assert [line.split(" | ")[2] for line in table.splitlines()[2:]] == ["2.0"] * 4
    masked, permuted = seen[:2]
    assert masked[0]["labels"] == masked[1]["labels"] == (64, 128)
    assert permuted[0]["perm_mask"] == permuted[1]["perm_mask"] == (64, 128, 128)


def test_the_table_shows_ratios():
    results = [bench.BenchmarkResult("bert", 256, {"forward": 1.25, "training step": 2.0, "greedy": None}, 1.1)]
    assert "| bert | 256 | 1.25 | 2.00 |  |  |  |  | 1.10 |" in bench.table(results)


def test_memory_counts_what_lives_at_once():
    def one_after_the_other():
        for _ in range(3):
            torch.ones(1000).add(1)

    def together():
        kept = [torch.ones(1000) for _ in range(3)]
        assert kept

    assert 8000 <= peak_bytes(one_after_the_other) <= 12000
    assert peak_bytes(together) == 12000


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """What was measured, by a benchmark that measures nothing, in a folder of its own."""
    names = []

    def measure(row, device, turns, compiled):
        names.append((row.name, compiled))
        yield bench.BenchmarkResult(row.name, 256, {"forward": 2.0})

    def line(row):
        names.append(("loading", row.name))
        return f"| {row.name} | 1.0 |"

    monkeypatch.setattr(bench, "measure", measure)
    monkeypatch.setattr(loading, "line", line)
    monkeypatch.setattr(collators, "table", lambda *_: names.append(("collators", False)) or "a table")
    monkeypatch.setattr(kept, "code", lambda folders: "0123456789ab")
    monkeypatch.chdir(tmp_path)
    return names


def test_an_interrupted_run_goes_on(asked, tmp_path, capsys):
    common = ["--kept", "kept.jsonl", "--resume", "--write", str(tmp_path / "page.md")]
    assert bench.main(["gpt2", "--kept", "kept.jsonl"]) == 0
    assert bench.main(["bert", "gpt2", *common]) == 0
    rows = [("gpt2", False), ("bert", False), ("collators", False)]
    rows += [("loading", row.name) for row in loading.ROWS]
    assert asked == rows
    written = (tmp_path / "page.md").read_text()
    assert written.index("| bert | 256 | 2.00") < written.index("| gpt2 | 256 | 2.00")
    assert "\na table\n" in written and "| gpt2-xl | 1.0 |" in written and kept.processor() in written
    assert bench.main(["bert", "gpt2", *common]) == 0
    assert asked == rows, "nothing again, collators and loading included"
    assert bench.main(["gpt2", "--kept", "kept.jsonl"]) == 0
    assert asked[len(rows) :] == [("gpt2", False)] and len(Path("kept.jsonl").read_text().splitlines()) == 1


def test_some_rows_do_not_replace_what_is_stored_of_all(asked, capsys):
    for words in (["gpt2", "bert"], ["gpt2", "--published"], ["gpt2", "t5-base", "--published", "--compile"]):
        assert bench.main(words) == 0
    assert asked[2:] == [("gpt2", False), ("gpt2", True), ("t5-base", True)]
    assert {path.name for path in Path("build").iterdir()} == {
        "bench-models-bert-gpt2.jsonl", "bench-models-gpt2-published.jsonl",
        "bench-models-gpt2-t5-base-published-compile.jsonl",
    }  # fmt: skip
    for words, said in (
        (["--published", "--write", "page.md"], "leave out --published"),
        (["gpt5"], "row is called 'gpt5'"),
    ):
        with pytest.raises(SystemExit):
            bench.main(words)
        assert said in capsys.readouterr().err


def test_each_row_comes_once():
    for rows in (bench.ROWS, bench.PUBLISHED, tokens.SIZES):
        assert len({row.name for row in rows}) == len(rows)


@pytest.mark.parametrize(
    "row", {row.name: row for row in [*bench.PUBLISHED, *tokens.SIZES]}.values(), ids=lambda x: x.name
)
def test_published_rows_have_the_published_sizes(row):
    import transformers

    config = getattr(transformers, row.config)(**row.fields)
    with shapes_only():
        reference = getattr(transformers, row.model)(config)
        candidate = tfkit.from_config(row.name, transformers_head(row))
        sizes = [{tuple(p.shape) for p in model.parameters() if p.dim() == 2} for model in (reference, candidate)]
    assert sizes[1] <= {shape for found in sizes[0] for shape in (found, found[::-1])}


def transformers_head(row):
    return "masked_lm" if "Masked" in row.model else "seq2seq_lm" if "Conditional" in row.model else "causal_lm"


SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 40}


def test_a_saved_model_is_loaded_in_a_process_of_its_own(tmp_path):
    row = loading.LoadingRow("tiny", "BertConfig", "BertForMaskedLM", SMALL, "bfloat16", "float32", "10KB")
    loading.save(row, str(tmp_path))
    assert len(list(tmp_path.glob("*.safetensors"))) > 1, "it is saved in shards"
    seconds, kilobytes = loading.load("tfkit", row, str(tmp_path))
    assert 0 < seconds < 120 and 50_000 < kilobytes < 10_000_000
    ballast = bytearray(b"1") * (kilobytes * 1024 + 200_000_000)  # what this process holds is not the other's
    assert loading.load("tfkit", row, str(tmp_path))[1] < len(ballast) / 1024 - 50_000
    (tmp_path / "config.json").unlink()
    with pytest.raises(ValueError, match="tiny: tfkit failed to load: .*config.json"):
        loading.load("tfkit", row, str(tmp_path))


def test_the_table_takes_each_side_at_its_best(monkeypatch):
    found = {"tfkit": [(2.0, 2048), (1.0, 4096)], "transformers": [(3.0, 8192), (4.0, 4096)]}
    monkeypatch.setattr(loading, "save", lambda *_: None)
    monkeypatch.setattr(loading, "load", lambda side, *_: found[side].pop())
    line = loading.table([loading.LoadingRow("tiny", "", "")], turns=2).splitlines()[-1]
    assert line == "| tiny | 1.0 | 3.0 | 3.00 | 2 | 4 | 2.00 |"


def test_a_new_page_keeps_the_sections_that_it_does_not_write(tmp_path):
    file = tmp_path / "benchmarks.md"
    file.write_text("# Benchmarks\n\nold\n\n## Loading\n\nold rows\n\n## By hand\n\nmeasured once\n", encoding="utf-8")
    page = bench.with_other_sections("# Benchmarks\n\nnew\n\n## Loading\n\nnew rows\n", file)
    assert page == "# Benchmarks\n\nnew\n\n## Loading\n\nnew rows\n\n## By hand\n\nmeasured once\n"
    assert bench.with_other_sections("new\n", tmp_path / "absent.md") == "new\n"


def test_rows_of_loading_can_be_chosen(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(loading, "table", lambda rows, turns: asked.append(([row.name for row in rows], turns)))
    assert loading.main(["gpt2-xl", "--turns", "1"]) == 0 and asked == [(["gpt2-xl"], 1)]
    with pytest.raises(SystemExit):
        loading.main(["gpt5"])
    assert "no row is called 'gpt5'" in capsys.readouterr().err


def test_the_floor_counts_the_products_of_a_backward_pass():
    q, k, v = (torch.randn(1, 2, 3, 8, requires_grad=True) for _ in range(3))
    with bench._Products() as products:
        torch.nn.functional.scaled_dot_product_attention(q, k, v).sum().backward()
    scores, mixed = ((1, 2, 3, 8), (1, 2, 8, 3)), ((1, 2, 3, 3), (1, 2, 3, 8))
    assert products.counts == {scores: 3, mixed: 4}  # 3 queries and 3 keys: gradients have the shapes of the output


def test_times_of_a_cpu_are_those_of_the_process_also_where_there_is_a_card(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: pytest.fail("a CPU waited for a card"))
    asleep, _ = bench.best_times(lambda: time.sleep(0.2), lambda: None, 1, seconds=0.0)
    assert asleep < 0.1


def test_a_section_that_a_page_has_not_is_put_at_its_end(tmp_path):
    file = tmp_path / "page.md"
    file.write_text("# Page\n\n## One\n\n1\n", encoding="utf-8")
    assert bench.with_section(file, "## Two\n\n2\n") == "# Page\n\n## One\n\n1\n\n## Two\n\n2\n"


def test_transformer_xl_is_measured_in_two_processes(monkeypatch, tmp_path, capsys):
    """tfkit stands for transformers: an older transformers is installed only for the measurement."""
    model = tfkit.from_config("transformer_xl", head="causal_lm", vocab_size=4000, cutoffs=(1000, 2000), div_val=2,
        d_model=16, d_embed=16, n_layers=1, n_heads=2, d_head=8, d_ff=16, mem_len=4)  # fmt: skip
    model.save_pretrained(tmp_path / "saved")
    child = transformer_xl.CHILD.replace(
        "tfkit.from_pretrained(directory)", f"tfkit.from_pretrained({str(tmp_path / 'saved')!r})"
    )
    monkeypatch.setattr(transformer_xl, "CHILD", child.replace('side == "transformers"', "False"))
    found = transformer_xl.measure(str(tmp_path), rows=2, length=8, turns=2)
    assert set(found) == {"forward", "training step"} and min(found.values()) > 0
    monkeypatch.setattr(transformer_xl, "CHILD", child)  # the transformers that is installed has none
    with pytest.raises(ValueError, match="transformers stopped: ImportError"):
        transformer_xl.measure(str(tmp_path), rows=2, length=8, turns=1)
    with pytest.raises(SystemExit):
        transformer_xl.main(["--older", str(tmp_path)])
    assert "there is no transformers in" in capsys.readouterr().err
