"""A step of training is timed on both sides, of the same model; its rows are stored one by one."""

import pytest

from bench import kept, training
from bench import models as bench

pytest.importorskip("transformers")


def test_a_step_of_training_is_measured_on_both_sides(monkeypatch):
    sizes = {"n_embd": 16, "n_layer": 2, "n_head": 2, "vocab_size": 50, "n_positions": 32}
    row = bench.BenchmarkRow("tiny", "GPT2Config", "GPT2LMHeadModel", sizes)
    found = training.measure(row, tokens=16, rows=2, turns=2)
    assert found.tokens == 32 and min(found.tfkit, found.transformers, found.products, *found.memory) > 0
    line = training.StepTimes("gpt2", 1024, 2.0, 3.0, 1.5, (100, 150)).line()
    assert line == "| gpt2 | 1,024 | 2,000 | 3,000 | 1.50 | 1,500 | 2.00 | 1.33 | 1.50 |"
    with pytest.raises(SystemExit):
        training.main(["gpt5"])


def test_a_step_of_training_of_another_model_is_not_timed(monkeypatch):
    def other(row, directory, device):
        reference, candidate = bench.pair(row, directory, device)
        next(candidate.parameters()).data.mul_(1.5)
        return reference, candidate

    monkeypatch.setattr(training, "pair", other)
    sizes = {"n_embd": 16, "n_layer": 1, "n_head": 2, "vocab_size": 50, "n_positions": 32}
    with pytest.raises(ValueError, match="tiny: the losses are"):
        training.measure(bench.BenchmarkRow("tiny", "GPT2Config", "GPT2LMHeadModel", sizes), 16, 1, 1)


def test_rows_are_stored_and_written(monkeypatch, tmp_path, capsys):
    asked = []

    def measure(row, tokens, rows, turns, onednn):
        asked.append((row.name, tokens))
        return training.StepTimes(row.name, tokens, 2.0, 3.0, 1.5, (100, 150))

    monkeypatch.setattr(training, "measure", measure)
    monkeypatch.setattr(kept, "code", lambda folders: "0123456789ab")
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    words = ["bert-base-uncased", "--write", str(page), "--resume"]
    assert training.main([*words, "--tokens", "512"]) == 0 == training.main([*words, "--tokens", "128", "512"])
    assert asked == [("bert-base-uncased", 512), ("bert-base-uncased", 128)]
    text = page.read_text(encoding="utf-8")
    assert text.startswith(training.HEADING) and "one text of so many tokens" in text
    assert text.index("| bert-base-uncased | 128 | 2,000 | 3,000 | 1.50 |") < text.index("| bert-base-uncased | 512 |")
    training.main([*words, "--tokens", "128", "--onednn"])
    assert len(asked) == 3 and training.ONEDNN_HEADING in page.read_text(encoding="utf-8")
    assert {path.name for path in (tmp_path / "build").iterdir()} == {
        "bench-training-bert-base-uncased.jsonl", "bench-training-bert-base-uncased-onednn.jsonl"}  # fmt: skip
    capsys.readouterr()
