"""The reported speed of `tfkit.train`: operations counted by shape, and no synchronisation in a step."""

from __future__ import annotations

import csv
from collections import Counter

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import tfkit
from tests.models.test_laws import lesson, make
from tfkit.nn import onednn
from tfkit.objectives.chunked_cross_entropy import chunked_logits
from tfkit.train import throughput
from tfkit.train.__main__ import main, model_loss
from tfkit.train.loop import prefetch


def tiny(**changes):
    sizes = {"vocab_size": 50, "d_model": 16, "n_layers": 2, "n_heads": 2, "max_length": 32}
    return tfkit.from_config("gpt2", "causal_lm", **{**sizes, **changes})


def test_operations_are_six_a_weight_and_those_of_attention():
    model, length = tiny(), 8
    ids = torch.zeros(3, length, dtype=torch.int64)
    model.train()
    state = torch.get_rng_state()
    found = throughput.operations_per_token(model, {"input_ids": ids, "labels": ids})
    assert torch.equal(torch.get_rng_state(), state) and model.training
    c = model.config
    weights = sum(p.numel() for name, p in model.named_parameters() if p.dim() == 2 and name != "position.weight")
    attention = 6 * 2 * length * c.d_model * c.n_layers  # scores and their values, all of the square
    assert found in (6 * weights, 6 * weights + attention)  # some kernels of attention are not in torch's table


@pytest.mark.skipif(not hasattr(torch.nn.functional, "grouped_mm"), reason="this PyTorch has no grouped_mm")
def test_products_in_groups_are_counted_forward_and_backward():
    x, matrices = torch.ones(6, 8, requires_grad=True), torch.ones(3, 8, 16, requires_grad=True)
    with throughput.CountedOperations() as counted:
        out = torch.nn.functional.grouped_mm(x, matrices, offs=torch.tensor([2, 2, 6], dtype=torch.int32))
        forward = counted.total
        out.square().sum().backward()
    assert forward == 2 * 6 * 8 * 16 and counted.total == 3 * forward


def test_products_and_memory_are_measured():
    cpu = torch.device("cpu")
    assert throughput.product_rate(cpu, torch.float32) > 1e8
    assert throughput.peak_memory(cpu) > 10**7


def test_logits_are_held_where_all_are_asked_for():
    model, ids = tiny(), torch.arange(16).view(2, 8)
    losses = [model_loss(rows)(model.eval(), {"input_ids": ids, "labels": ids}) for rows in (None, 0, 3)]
    torch.testing.assert_close(losses[1:], losses[:-1])


class Casts(TorchDispatchMode):
    """Counts the matrices that are converted to bfloat16, by their shapes."""

    def __init__(self):
        super().__init__()
        self.counts = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten._to_copy.default and (kwargs or {}).get("dtype") == torch.bfloat16:
            self.counts[tuple(args[0].shape)] += args[0].dim() == 2
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(("name", "head"), [("llama", "causal_lm"), ("gpt2", "causal_lm"), ("t5", "seq2seq_lm")])
def test_a_weight_is_converted_once_a_step(name, head):
    """The output matrix too, which the chunked loss multiplies once for each chunk."""
    row, model = make(name, head, torch.float32)
    with Casts() as casts, torch.autocast("cpu", torch.bfloat16), chunked_logits(3):
        model.train()(**lesson(row, model)).loss.backward()
    weights = Counter(tuple(p.shape) for p in model.parameters() if p.dim() == 2)
    found = {shape: casts.counts[shape] for shape in weights if casts.counts[shape]}
    assert len(found) >= 4 and all(count <= weights[shape] for shape, count in found.items()), (found, weights)


def test_batches_are_made_ahead_in_order_and_what_fails_there_is_raised_here(monkeypatch):
    monkeypatch.setattr("tfkit.train.loop.pin", lambda batch: batch)

    def stream():
        for i in range(5):
            yield [i]
        raise ValueError("no more text")

    ahead = prefetch(stream(), torch.device("cuda"))
    assert [next(ahead) for _ in range(5)] == [[0], [1], [2], [3], [4]]
    with pytest.raises(ValueError, match="no more text"):
        next(ahead)
    once = prefetch(iter([[1], [2]]), torch.device("cuda"))
    assert next(once) == [1]
    once.close()
    assert list(prefetch(iter([[1], [2]]), torch.device("cpu"))) == [[1], [2]]


def test_the_last_line_tells_of_speed(tmp_path, capsys):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat and the dog did not\n" * 60)
    sizes = ["d_model=16", "n_layers=1", "n_heads=2", "max_length=32"]
    fixed = ["--vocabulary", "270", "--length", "16", "--batch", "4", "--steps", "2", "--precision", "tf32"]
    before = torch.get_float32_matmul_precision()
    try:
        assert main(["gpt2", "--text", str(text), "--out", str(tmp_path / "out"), "--set", *sizes, *fixed]) == 0
    finally:
        torch.set_float32_matmul_precision(before)
    last = capsys.readouterr().out.strip().splitlines()[-1]
    assert "tokens/s · MFU" in last and "GB at most" in last


def test_a_loss_that_is_not_finite_changes_no_weight_where_nobody_has_read_it_yet():
    """As on a card, whose optimizer leaves the step out by itself; the CPU's can do it too."""
    from tfkit.train.loop import ALONE, DivergedError, TrainingStep

    model, ids = tiny(), torch.arange(16).view(2, 8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, fused=True)
    loss = model_loss(None)
    step = TrainingStep(model, loss, optimizer, 1.0, torch.float32, ALONE)
    batch = {"input_ids": ids, "labels": ids}
    assert step([batch], 1e-3, 1, None).values()["loss"] > 0
    before = {name: value.clone() for name, value in model.state_dict().items()}
    step.loss = lambda net, batch: loss(net, batch) * float("nan")
    taken = step([batch], 1e-3, 2, None)
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in before.items())
    with pytest.raises(DivergedError, match="nan at step 2"):
        taken.values()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here")
def test_no_step_waits_for_the_card_and_training_goes_on_as_if_it_had_never_stopped(tmp_path):
    from tfkit.train import DivergedError, fit
    from tfkit.train.loop import TrainingStep, adamw
    from tfkit.train.process_group import ALONE

    def batches(generator):
        for _ in range(4):
            ids = torch.randint(50, (4, 16), generator=generator)
            yield {"input_ids": ids, "labels": ids}

    how = {"rate": lambda step: 1e-3, "progress": False}
    torch.manual_seed(0)
    whole = tiny().cuda()
    torch.manual_seed(0)
    parts = tiny().cuda()
    loss = model_loss(None)
    fit(whole, batches, loss, steps=6, **how)
    fit(parts, batches, loss, steps=3, checkpoint=tmp_path / "state.safetensors", **how)
    torch.manual_seed(7)
    fit(parts, batches, loss, steps=6, checkpoint=tmp_path / "state.safetensors", **how)
    for name, value in whole.state_dict().items():
        torch.testing.assert_close(value, parts.state_dict()[name], msg=name)

    step = TrainingStep(whole, loss, adamw(whole, 0.01, ALONE), 1.0, torch.float32, ALONE)
    group = [{name: tensor.pin_memory() for name, tensor in next(batches(torch.Generator())).items()}]
    step(group, 1e-3, 1, None)
    torch.cuda.set_sync_debug_mode("error")
    try:
        taken = step(group, 1e-3, 2, None)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert taken.values()["loss"] > 0
    before = {name: value.clone() for name, value in whole.state_dict().items()}
    with pytest.raises(DivergedError):
        fit(whole, batches, lambda net, batch: loss(net, batch) * float("nan"), steps=3, **how)
    assert all(torch.equal(value, whole.state_dict()[name]) for name, value in before.items())


@pytest.mark.parametrize(("more", "message"), [
    (["--precision", "bfloat16"], "--onednn: on a CPU, with --precision float32"),
    (["--compile"], "--onednn: on a CPU, with --precision float32, and without --compile"),
])  # fmt: skip
def test_products_by_onednn_are_refused_where_they_are_not_used(tmp_path, capsys, more, message):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat\n" * 20)
    assert main(["gpt2", "--text", str(text), "--out", str(tmp_path / "out"), "--onednn", *more]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.skipif(not onednn.is_available(), reason="this build of PyTorch has no oneDNN")
def test_training_by_onednn_learns_the_same(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat and the dog did not\n" * 60)
    sizes = ["d_model=16", "n_layers=1", "n_heads=2", "max_length=32"]
    fixed = ["--vocabulary", "270", "--length", "16", "--batch", "4", "--steps", "4", "--set", *sizes]
    found = []
    for name, more in (("torch", []), ("onednn", ["--onednn"])):
        assert main(["gpt2", "--text", str(text), "--out", str(tmp_path / name), *more, *fixed]) == 0
        with (tmp_path / name / "metrics.csv").open() as stream:
            found.append([float(row["loss"]) for row in csv.DictReader(stream)])
    assert found[0] == pytest.approx(found[1], rel=1e-5) and len(found[0]) == 4


def test_adamw_as_one_kernel_learns_the_same():
    from tfkit.train import ProcessGroup, fit
    from tfkit.train.loop import adamw

    ids = torch.arange(32).view(4, 8)
    found = []
    for fused in (None, True):
        torch.manual_seed(0)
        model = tiny(dropout=0.0, embed_dropout=0.0, attn_dropout=0.0)
        batches = lambda generator: [{"input_ids": ids, "labels": ids}]
        found.append(
            fit(model, batches, model_loss(None), steps=5, rate=lambda step: 1e-3, fused=fused, progress=False)
        )
    assert found[0].losses == pytest.approx(found[1].losses, rel=1e-5)
    assert not adamw(model, 0.0, ProcessGroup()).defaults["fused"]
    with pytest.raises(ValueError, match="fused=True: with one process only"):
        adamw(model, 0.0, ProcessGroup(0, 2), True)


def test_attention_with_grouped_heads_is_counted_by_the_heads_of_its_queries():
    draw = lambda heads: torch.empty(2, heads, 6, 8, device="meta")
    args = throughput.repeat_kv_heads((draw(4), draw(2), draw(2), None, 0.0, True))
    assert [tuple(x.shape) for x in args[:3]] == [(2, 4, 6, 8)] * 3 and args[3:] == [None, 0.0, True]
    count = throughput.flop_registry[torch.ops.aten._scaled_dot_product_flash_attention]
    assert count(*args[:3], out_val=draw(4)) == 2 * (2 * 2 * 4 * 6 * 6 * 8)
