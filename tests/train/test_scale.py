"""Training at scale: several processes equal one, a killed run resumes exactly, processes share rows exactly."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

import tfkit
from tfkit.objectives.causal_lm import CausalLM
from tfkit.objectives.masked_lm import MaskedLM
from tfkit.train import PackedDataset, ProcessGroup, write_rows

SIZES = ["d_model=16", "n_layers=2", "n_heads=2", "max_length=32"]
STILL = ["dropout=0.0", "embed_dropout=0.0", "attn_dropout=0.0"]
ALONE = [sys.executable, "-m", "tfkit.train"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
TWO = [*TORCHRUN, "-m", "tfkit.train"]
QUIET = {**os.environ, "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    file = tmp_path_factory.mktemp("text") / "code.txt"
    file.write_text("\n".join(f.read_text() for f in sorted(Path(torch.__file__).parent.glob("optim/a*.py"))))
    return file


def command(text, out, *more, steps=6, name="gpt2", sizes=(*SIZES, *STILL)):
    fixed = ["--vocabulary", "300", "--length", "32", "--batch", "8", "--steps", str(steps), "--warmup", "2"]
    return [name, "--text", str(text), "--out", str(out), "--set", *sizes, *fixed, *more]


def trained(how, arguments):
    done = subprocess.run([*how, *arguments], capture_output=True, text=True, timeout=240, env=QUIET)
    assert done.returncode == 0, done.stderr[-2000:]
    return losses(Path(arguments[arguments.index("--out") + 1]))


def losses(out):
    with (out / "metrics.csv").open() as stream:
        return [float(row["loss"]) for row in csv.DictReader(stream)]


def weights(out):
    return tfkit.from_pretrained(out / "model").state_dict()


@pytest.mark.parametrize("parallel", ["ddp", pytest.param("fsdp", marks=pytest.mark.slow)])
def test_two_processes_learn_what_one_does(text, tmp_path, parallel):
    """Masked LM, so that the halves of a batch differ in how many targets they have; accumulation over two batches."""
    arguments = ("--objective", "masked_lm", "--accumulate", "2")
    sizes = [*SIZES, "d_ff=32", *STILL[:1], "attn_dropout=0.0"]
    one = trained(ALONE, command(text, tmp_path / "one", *arguments, name="bert", sizes=sizes))
    two = trained(TWO, command(text, tmp_path / "two", *arguments, "--parallel", parallel, name="bert", sizes=sizes))
    assert two == pytest.approx(one, rel=1e-5) and len(one) == 6 and one[-1] < one[0]
    ours = weights(tmp_path / "two")
    for name, value in weights(tmp_path / "one").items():
        torch.testing.assert_close(ours[name], value, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("objective", "name", "sizes"),
    [
        ("masked_lm", "bert", [*SIZES, "d_ff=32"]),
        ("permutation_lm", "xlnet", ["d_model=16", "n_layers=2", "n_heads=2", "d_ff=32"]),
        ("span_corruption", "t5", ["d_model=16", "d_kv=8", "n_layers=1", "n_heads=2", "d_ff=32"]),
        ("denoising", "bart", ["d_model=16", "n_layers=1", "n_heads=2", "d_ff=32", "max_length=64"]),
    ],
)
def test_every_objective_trains_its_architecture(text, tmp_path, objective, name, sizes):
    from tfkit.train.__main__ import main

    arguments = command(text, tmp_path, "--objective", objective, "--peak", "0.01", name=name, sizes=sizes, steps=12)
    assert main(arguments) == 0
    seen = losses(tmp_path)
    assert len(seen) == 12 and seen[-1] < seen[0] - 0.1
    assert tfkit.from_pretrained(tmp_path / "model").head == ("seq2seq_lm" if name in ("t5", "bart") else "masked_lm")


@pytest.mark.slow
def test_shares_of_a_checkpoint_are_gone_on_from(text, tmp_path):
    more = ("--parallel", "fsdp", "--average", "0.9")
    whole = trained(TWO, command(text, tmp_path / "whole", *more))
    trained(TWO, command(text, tmp_path / "parts", *more, steps=3))
    first = losses(tmp_path / "parts")
    parts = trained(TWO, command(text, tmp_path / "parts", *more, "--peak", "0.001"))
    assert len(first) == 3 and parts[:3] == first and len(parts) == 6
    assert parts[3] == pytest.approx(whole[3], rel=0.01)  # the rate falls to another end: near, not equal
    assert sorted(p.name for p in (tmp_path / "parts" / "state").glob("*.distcp")) == ["__0_0.distcp", "__1_0.distcp"]


@pytest.mark.slow
def test_kill_and_resume_is_as_if_nothing_had_happened(text, tmp_path):
    more = ("--save-every", "5")
    whole = trained(ALONE, command(text, tmp_path / "whole", *more, steps=60, sizes=SIZES))  # with dropout
    arguments = command(text, tmp_path / "killed", *more, steps=60, sizes=SIZES)
    process = subprocess.Popen([*ALONE, *arguments], env=QUIET, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    state, deadline = tmp_path / "killed" / "state.safetensors", time.monotonic() + 120
    while not state.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert state.exists() and len(losses(tmp_path / "killed")) < 60, "it was to be killed on its way"
    assert trained(ALONE, arguments) == whole
    for name, value in weights(tmp_path / "whole").items():
        assert torch.equal(value, weights(tmp_path / "killed")[name]), name


def rows(tmp_path, count=10, length=4):
    file = tmp_path / "rows.npy"
    write_rows(file, [range(1, count * length)], length, 0)
    return file


def test_processes_share_a_pass_without_overlap(tmp_path):
    file = rows(tmp_path, 12)
    seen = [
        [
            batch["input_ids"]
            for batch in PackedDataset(file, CausalLM(), 4, process_group=ProcessGroup(rank, 2))(torch.Generator())
        ]
        for rank in range(2)
    ]
    together = torch.cat([torch.cat(part) for part in seen])
    assert sorted(together.flatten().tolist()) == list(range(48)) and len(seen[0]) == len(seen[1]) == 3


def test_examples_do_not_depend_on_the_number_of_processes(tmp_path):
    file, objective = rows(tmp_path, 12), MaskedLM(99, 100)
    generator = lambda: torch.Generator().manual_seed(3)
    whole = list(PackedDataset(file, objective, 4)(generator()))
    halves = [
        list(PackedDataset(file, objective, 4, process_group=ProcessGroup(rank, 2))(generator())) for rank in range(2)
    ]
    for i, batch in enumerate(whole):
        for name in ("input_ids", "labels"):
            assert torch.equal(batch[name][0::2], halves[0][i][name])
            assert torch.equal(batch[name][1::2], halves[1][i][name])


def test_rows_stay_on_disk(tmp_path):
    blocks = PackedDataset(rows(tmp_path), CausalLM(), 2)
    assert isinstance(blocks.rows, np.memmap)


def test_batches_that_cannot_be_are_errors(tmp_path):
    with pytest.raises(ValueError, match="holds 10 rows, too few for a batch of 16"):
        PackedDataset(rows(tmp_path), CausalLM(), 16)
    with pytest.raises(ValueError, match="batch of 3 rows cannot be shared evenly by 2"):
        PackedDataset(rows(tmp_path), CausalLM(), 3, process_group=ProcessGroup(0, 2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--set", "depth"], "--set depth: write FIELD=VALUE"),
        (["--set", "colour=3"], "colour"),
        (["--set", "d_model=-4"], "d_model"),
        (["--set", "max_length=16"], "--length 32 is more than the model's max_length, 16"),
        (["--objective", "span_corruption"], "no head 'seq2seq_lm'"),
        (["--parallel", "fsdp"], "--parallel fsdp needs several processes"),
        (["--text", "none.txt"], "none.txt: not found"),
        (["--batch", "0"], "argument --batch: 0: must be at least 1"),
        (["--steps", "-5"], "argument --steps: -5: must be at least 1"),
        (["--length", "x"], "argument --length: 'x' is not a number"),
        (["--average", "1"], "argument --average: 1: must be at least 0.0 and less than 1.0"),
        (["--peak", "nan"], "argument --peak: nan"),
    ],
)
def test_a_request_that_cannot_be_met_says_why_before_any_work(text, tmp_path, change, message, capsys):
    assert refused([*command(text, tmp_path / "out", steps=1), *change], capsys).count(message) == 1
    assert not (tmp_path / "out").exists()


def refused(arguments, capsys):
    """-> what the command says"""
    from tfkit.train.__main__ import main

    try:
        status = main(arguments)
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    return capsys.readouterr().err


def test_a_batch_larger_than_the_text_is_refused(text, tmp_path, capsys):
    out = tmp_path / "out"
    assert "too few for a batch of 100000" in refused([*command(text, out, steps=1), "--batch", "100000"], capsys)


def test_a_file_that_is_not_text_is_named(tmp_path, capsys):
    (tmp_path / "latin.txt").write_bytes("café".encode("latin-1"))
    said = refused(command(tmp_path / "latin.txt", tmp_path / "out", steps=1), capsys)
    assert "latin.txt is not UTF-8 text" in said and "byte 3" in said


def test_what_was_prepared_from_something_else_is_not_trained_on(text, tmp_path, capsys):
    from tfkit.text import vocabulary
    from tfkit.train.__main__ import main

    out, other = tmp_path / "out", tmp_path / "other.txt"
    other.write_text(text.read_text() + "more")
    vocabulary.train("byte_bpe", ["a b"], 300).save(tmp_path / "own.json")
    assert main(command(text, out, steps=1)) == 0
    before = (out / "rows.npy").read_bytes()
    changes = {
        "--text": str(other), "--length": "16", "--vocabulary": "299", "--kind": "bpe",
        "--tokenizer": str(tmp_path / "own.json"),
    }  # fmt: skip
    for option, value in changes.items():
        said = refused([*command(text, out, steps=2), option, value], capsys)
        assert "was prepared with another" in said and option in said
    assert (out / "rows.npy").read_bytes() == before
    assert main(command(text, out, steps=2)) == 0 and len(losses(out)) == 2
    (out / "prepared.json").unlink()
    assert "no prepared.json, which records" in refused(command(text, out, steps=3), capsys)


def test_the_tokenizer_lies_beside_the_model(text, tmp_path):
    from tfkit.text import Tokenizer
    from tfkit.train.__main__ import main

    assert main(command(text, tmp_path, steps=1)) == 0
    words, model = Tokenizer.from_pretrained(tmp_path / "model"), tfkit.from_pretrained(tmp_path / "model")
    assert len(words) == model.config.vocab_size == 300
    assert model(**words.batch(["def main():", "pass"])).logits.isfinite().all()


@pytest.mark.parametrize(
    ("objective", "name", "symbol"), [("masked_lm", "bert", "mask"), ("denoising", "bart", "mask"),
                                      ("span_corruption", "t5", "sentinels")],
)  # fmt: skip
def test_a_vocabulary_without_the_objectives_symbols_is_refused(text, tmp_path, capsys, objective, name, symbol):
    """GPT-2's has no mask, and none but T5's has sentinels; its first words were used for them."""
    from tfkit.text import BPETokenizer

    BPETokenizer.train(["a b c"], 300).save(tmp_path / "words.json")
    sizes = ["d_model=16", "n_layers=1", "n_heads=2", "d_ff=32"]
    arguments = command(text, tmp_path / "out", "--objective", objective, name=name, sizes=sizes)
    said = refused([*arguments, "--tokenizer", str(tmp_path / "words.json")], capsys)
    assert symbol in said and not (tmp_path / "out" / "rows.npy").exists()


def test_long_rows_get_as_many_sentinels_as_they_need(tmp_path):
    from tfkit.text.vocabulary import Tokenizer, train
    from tfkit.train.__main__ import options
    from tfkit.train.prepare import make_tokenizer, objective

    given = options([*command("x", tmp_path), "--objective", "span_corruption", "--length", "2048"])
    words = make_tokenizer(given, ["a b c d"])
    assert words.inner.token_to_id("<extra_102>") is not None and objective(given, words).n_sentinels == 103
    published = train("unigram", ["a b c d"], 120, [f"<extra_id_{i}>" for i in reversed(range(100))])
    with pytest.raises(ValueError, match="rows of 2048 tokens need 103 sentinels; the vocabulary has 100"):
        objective(given, Tokenizer(published.inner))
