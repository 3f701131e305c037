"""Features of training: accumulation, mixed precision, averages, activation checkpointing, metrics."""

from __future__ import annotations

import csv
import re

import pytest
import torch
from safetensors.torch import load_file
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import tfkit
from tfkit.tools.memory import peak_bytes
from tfkit.train import DivergedError, checkpoint_activations, fit
from tfkit.train.throughput import CountedOperations

IDS = torch.randint(3, 50, (24, 12), generator=torch.Generator().manual_seed(0))


def model(**changes):
    torch.manual_seed(0)
    sizes = {"vocab_size": 50, "d_model": 16, "n_layers": 2, "n_heads": 2, "max_length": 16}
    return tfkit.from_config("gpt2", "causal_lm", **{**sizes, **changes})


STILL = {"dropout": 0.0, "embed_dropout": 0.0, "attn_dropout": 0.0}


def batches(size, lengths=None):
    """Rows of IDS in their order; labels past each row's length are not scored."""
    lengths = torch.tensor(lengths or [12] * len(IDS))

    def once(generator):
        for ids, n in zip(IDS.split(size), lengths.split(size), strict=True):
            labels = ids.masked_fill(torch.arange(12) >= n[:, None], -100)
            labels[:, 0] = -100  # nothing comes before it: no target, and so not counted as one
            yield {"input_ids": ids, "labels": labels}

    return once


def train(net, data, steps=3, **how):
    loss = how.pop("loss", lambda net, batch: net(**batch).loss)
    return fit(net, data, loss, steps=steps, rate=lambda s: 1e-3, progress=False, **how)


def same(one, other, **close):
    for (name, a), (_, b) in zip(one.named_parameters(), other.named_parameters(), strict=True):
        torch.testing.assert_close(a, b, msg=lambda text, n=name: f"{n}: {text}", **close)


def by_hand(net, data, steps, clip, decay):
    """AdamW as in Loshchilov & Hutter 2019, with the clipping, decay and betas that `fit` promises -> gradient norms"""
    moments, norms = {}, []
    for step, batch in zip(range(1, steps + 1), data(None), strict=False):
        net.zero_grad()
        net(**batch).loss.backward()
        parameters = [p for p in net.parameters() if p.grad is not None]
        norms.append(torch.stack([p.grad.pow(2).sum() for p in parameters]).sum().sqrt().item())
        for p in parameters:
            grad = p.grad * min(1.0, clip / (norms[-1] + 1e-6))
            first, second = moments.get(p, (0.0, 0.0))
            first, second = 0.9 * first + 0.1 * grad, 0.98 * second + 0.02 * grad**2
            moments[p] = first, second
            update = (first / (1 - 0.9**step)) / ((second / (1 - 0.98**step)).sqrt() + 1e-9)
            p.data -= 1e-3 * (decay * p.data + update)
    return norms


@pytest.mark.parametrize(("clip", "decay"), [(1.0, 0.01), (0.05, 0.0), (1e9, 0.3)])
def test_a_step_is_adamw_clipped_and_decayed_as_promised(clip, decay, tmp_path):
    """Betas 0.9 and 0.98; all parameters decay; clipped by the norm of all gradients together, which is reported."""
    ours, expected = model(**STILL).double(), model(**STILL).double()
    given = {} if (clip, decay) == (1.0, 0.01) else {"clip": clip, "weight_decay": decay}  # those are the defaults
    train(ours, batches(4), steps=4, log=tmp_path, **given)
    norms = by_hand(expected, batches(4), 4, clip, decay)
    same(ours, expected, rtol=1e-9, atol=1e-12)
    with (tmp_path / "metrics.csv").open() as stream:
        assert [float(row["gradient_norm"]) for row in csv.DictReader(stream)] == pytest.approx(norms, rel=1e-6)
    assert max(norms) > 0.05, "the clip of the second case is to be felt"


def test_accumulation_is_one_large_batch_however_ragged():
    """The mean over all targets, not the mean of means: the halves differ in their numbers of targets."""
    whole, parts = model(**STILL).double(), model(**STILL).double()
    lengths = [12] * 4 + [3] * 4 + [5] * 8 + [12] * 8
    one = train(whole, batches(8, lengths))
    two = train(parts, batches(4, lengths), accumulate=2)
    assert one.losses == pytest.approx(two.losses, rel=1e-9)
    same(whole, parts, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("kind", "share"), [("layers", 0.6), ("selective", 0.9)])
def test_recomputation_gives_the_same_gradients_for_less_memory(kind, share):
    def gradients(net):
        torch.manual_seed(1)  # dropout
        net.train()
        net(IDS, labels=IDS).loss.backward()

    sizes = {"d_model": 32, "n_layers": 6}
    plain, again = model(**sizes), checkpoint_activations(model(**sizes), kind)
    used, less = peak_bytes(lambda: gradients(plain)), peak_bytes(lambda: gradients(again))
    for a, b in zip(plain.parameters(), again.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad)
    assert less < share * used
    with pytest.raises(ValueError, match=r"Linear has no nn\.ModuleList"):
        checkpoint_activations(torch.nn.Linear(2, 2))
    with pytest.raises(ValueError, match="of kind 'all'; available: layers, selective"):
        checkpoint_activations(plain, "all")


def test_selective_recomputation_computes_no_product_of_weights_again():
    def products(net):
        with CountedOperations() as counted:
            net.train()(IDS, labels=IDS).loss.backward()
        return counted.total

    quiet = {"dropout": 0.0, "attn_dropout": 0.0}  # on a CPU attention with dropout is made of products of its own
    plain, selective, whole = (model(**quiet) for _ in range(3))
    checkpoint_activations(selective, "selective"), checkpoint_activations(whole)
    assert products(plain) == products(selective) < products(whole)


def test_bfloat16_computes_in_half_and_keeps_whole_weights():
    seen = []
    net = model()
    net.layers[0].ff.register_forward_hook(lambda module, given, out: seen.append(out.dtype))
    history = train(net, batches(8), steps=20, precision=torch.bfloat16)
    assert set(seen) == {torch.bfloat16} and {p.dtype for p in net.parameters()} == {torch.float32}
    assert history.losses[-1] < history.losses[0]


def test_an_average_follows_the_weights_and_is_saved(tmp_path):
    def averaged(net):
        return AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.5))

    net = model()
    expected = averaged(net)
    train(net, batches(8), steps=4, average=expected)
    first = model()
    train(first, batches(8), steps=2, average=averaged(first), checkpoint=tmp_path / "s.safetensors")
    again = model()
    found = averaged(again)
    train(again, batches(8), steps=4, average=found, checkpoint=tmp_path / "s.safetensors")
    same(expected.module, found.module, rtol=0, atol=0)
    assert not torch.equal(next(expected.module.parameters()), next(net.parameters()))


def test_a_loss_that_is_not_a_number_leaves_its_batch(tmp_path):
    calls = []

    def loss(net, batch):
        calls.append(1)
        return net(**batch).loss * (float("nan") if len(calls) == 3 else 1.0)

    with pytest.raises(DivergedError, match=r"nan at step 3 .*the batch is in .*diverged\.safetensors") as caught:
        train(model(), batches(8), loss=loss, checkpoint=tmp_path / "s.safetensors")
    kept = load_file(caught.value.file)
    assert torch.equal(kept["0.input_ids"], IDS[16:24]) and torch.equal(caught.value.batch[0]["input_ids"], IDS[16:24])


def test_metrics_are_written_and_a_resume_does_not_repeat_lines(tmp_path):
    how = {"checkpoint": tmp_path / "s.safetensors", "log": tmp_path / "log"}
    train(model(), batches(8), steps=2, **how)
    train(model(), batches(8), steps=5, **how)
    with (tmp_path / "log" / "metrics.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["step"]) for row in rows] == [1, 2, 3, 4, 5]
    assert all(float(row["gradient_norm"]) > 0 and float(row["rate"]) == 1e-3 for row in rows)
    assert [p for p in (tmp_path / "log").iterdir() if re.match(r"events\.out\.tfevents", p.name)]


def test_transformers_own_trainer_trains_our_models(tmp_path):
    transformers = pytest.importorskip("transformers")
    net = model()
    rows = [{"input_ids": ids, "labels": ids} for ids in IDS]
    settings = transformers.TrainingArguments(
        output_dir=str(tmp_path), max_steps=60, per_device_train_batch_size=8, learning_rate=1e-2, report_to=[],
        logging_steps=1, disable_tqdm=True, use_cpu=not torch.cuda.is_available(), save_strategy="no",
    )  # fmt: skip
    trainer = transformers.Trainer(model=net, args=settings, train_dataset=rows, eval_dataset=rows)
    before = trainer.evaluate()["eval_loss"]
    trainer.train()
    assert trainer.evaluate()["eval_loss"] < 0.9 * before
    trainer.save_model(str(tmp_path / "saved"))
    again = model()
    again.load_state_dict(load_file(tmp_path / "saved" / "model.safetensors"))
    same(again, net, rtol=0, atol=0)
