"""The training loop: it learns, resumes exactly, refuses invalid settings and survives an interrupt."""

from __future__ import annotations

import signal

import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from torch.optim.swa_utils import AveragedModel

from tfkit.nn import Seq2SeqTransformer
from tfkit.train import (
    DivergedError,
    PairBatches,
    Seq2SeqLoss,
    fit,
    initialise,
    load_weights,
    mean_loss,
    save_weights,
)

PAD, START, END = 0, 1, 2


def copying(count=64):
    """Pairs whose target is the source."""
    generator = torch.Generator().manual_seed(0)
    rows = [torch.randint(3, 10, (3 + i % 3,), generator=generator).tolist() + [END] for i in range(count)]
    return PairBatches([(row, row) for row in rows], 64, PAD)


def model(seed=0):
    torch.manual_seed(seed)
    return initialise(Seq2SeqTransformer(10, 10, 16, 2, 32, 1, PAD))


def train(net, steps=8, loss=None, **how):
    loss = loss or Seq2SeqLoss(START, PAD, word_dropout=0.1, unk_id=3)
    return fit(net, copying(), loss, steps=steps, rate=lambda s: 5e-3, progress=False, **how)


def test_it_learns():
    net, loss = model(), Seq2SeqLoss(START, PAD)
    before = mean_loss(net, copying(), loss)
    history = train(net, 60, loss)
    assert history.steps == len(history.losses) == 60 and history.tokens_per_second > 0
    assert mean_loss(net, copying(), loss) < 0.75 * before


def test_resumed_training_is_bit_for_bit_the_same(tmp_path):
    whole, parts = model(), model()
    train(whole, 8)
    train(parts, 3, checkpoint=tmp_path / "state.safetensors")
    torch.manual_seed(99)  # a new session draws from elsewhere
    parts = model(seed=5)
    history = train(parts, 8, checkpoint=tmp_path / "state.safetensors")
    assert history.steps == 8 and len(history.losses) == 5
    for name, value in whole.state_dict().items():
        assert torch.equal(value, parts.state_dict()[name]), name


def test_the_random_state_of_every_device_is_kept(tmp_path, monkeypatch):
    """On two pretended GPUs, as dropout draws from the generator of the device that it runs on."""
    states = [torch.tensor([1, 2], dtype=torch.uint8), torch.tensor([3, 4], dtype=torch.uint8)]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(states))
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda i: states[i])
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, i: states.__setitem__(i, state))
    file = tmp_path / "state.safetensors"
    train(model(), 1, checkpoint=file)
    states[:] = [torch.zeros(2, dtype=torch.uint8)] * 2
    train(model(), 2, checkpoint=file)
    assert [state.tolist() for state in states] == [[1, 2], [3, 4]]
    states.pop()  # gone on from where there is one GPU, then none
    train(model(), 3, checkpoint=file)
    states.pop()
    assert train(model(), 4, checkpoint=file).steps == 4


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (dict(steps=0), "steps=0: must be a whole number, at least 1"),
        (dict(steps=-1), "steps=-1"),
        (dict(accumulate=0), "accumulate=0"),
        (dict(save_every=0), "save_every=0"),
        (dict(steps=2.5), "steps=2.5"),
        (dict(clip=0.0), "clip=0.0"),
        (dict(rate=1e-3), "rate=0.001: pass a function of the step"),
    ],
)
def test_settings_that_cannot_be_are_errors_of_one_line(how, message):
    given = dict(steps=2, rate=lambda step: 1e-3, progress=False) | how
    with pytest.raises((ValueError, TypeError), match=message) as error:
        fit(model(), copying(), Seq2SeqLoss(START, PAD), **given)
    assert "\n" not in str(error.value)


def test_another_model_s_checkpoint_is_refused(tmp_path):
    file = tmp_path / "state.safetensors"
    train(model(), 1, checkpoint=file)
    other = Seq2SeqTransformer(10, 10, 8, 2, 32, 1, PAD)
    with pytest.raises(ValueError, match="another model's"):
        train(other, 2, checkpoint=file)


def test_a_loss_that_is_not_a_number_stops_with_a_reason():
    with pytest.raises(DivergedError, match="nan at step 1 .*lower the rate"):
        train(model(), 3, lambda net, batch: net(batch.src, batch.tgt).sum() * float("nan"))


def test_a_gradient_that_is_not_a_number_changes_nothing(tmp_path):
    """The loss is finite: the square root of 0 has an infinite slope. The checkpoint before it stays."""
    file, calls, inner = tmp_path / "s.safetensors", [], Seq2SeqLoss(START, PAD)

    def loss(net, batch):
        calls.append(1)
        bad = torch.sqrt((next(net.parameters()) * 0).sum()) if len(calls) == 2 else 0.0
        return inner(net, batch) + bad

    net = model()
    with pytest.raises(DivergedError, match="the gradient's norm is nan at step 2 .*the batch is in"):
        train(net, 3, loss, checkpoint=file, save_every=1)
    assert all(p.isfinite().all() for p in net.parameters())
    assert load_file(file)["step"] == 1


def pressed_in_step(number, presses=1):
    """A loss during which Ctrl-C is pressed, in this step."""
    calls, inner = [], Seq2SeqLoss(START, PAD, word_dropout=0.1, unk_id=3)

    def loss(net, batch):
        calls.append(1)
        for _ in range(presses if len(calls) == number else 0):
            signal.raise_signal(signal.SIGINT)
        return inner(net, batch)

    return loss


def test_an_interrupt_waits_for_the_end_of_the_step_and_resumes_exactly(tmp_path):
    file, whole, parts = tmp_path / "s.safetensors", model(), model()
    train(whole, 6)
    history = train(parts, 6, pressed_in_step(4), checkpoint=file)
    assert history.interrupted and history.steps == 4
    parts = model(seed=5)
    assert train(parts, 6, checkpoint=file).steps == 6
    assert all(torch.equal(p, q) for p, q in zip(whole.parameters(), parts.parameters(), strict=True))


def test_a_second_interrupt_ends_the_step_and_saves_nothing_of_it(tmp_path):
    file = tmp_path / "s.safetensors"
    history = train(model(), 6, pressed_in_step(4, presses=2), checkpoint=file, save_every=2)
    assert history.interrupted and history.steps == 3
    assert load_file(file)["step"] == 2


def test_averaged_weights_are_neither_dropped_nor_expected_where_there_are_none(tmp_path):
    plain, averaged = tmp_path / "plain.safetensors", tmp_path / "averaged.safetensors"
    net = model()
    train(net, 1, checkpoint=plain)
    with pytest.raises(ValueError, match="holds no averaged weights: the run began without"):
        train(net, 2, checkpoint=plain, average=AveragedModel(net))
    train(net, 1, checkpoint=averaged, average=AveragedModel(net))
    with pytest.raises(ValueError, match="averaged weights, which would be lost"):
        train(net, 2, checkpoint=averaged)
    assert train(net, 2, checkpoint=averaged, average=AveragedModel(net)).steps == 2


def test_a_batch_without_ids_counts_no_tokens():
    net, batch = nn.Linear(3, 1), {"x": torch.ones(2, 3)}
    history = fit(
        net, lambda generator: [batch], lambda net, batch: net(batch["x"]).mean(), steps=2, rate=lambda step: 1e-3,
        progress=False,
    )  # fmt: skip
    assert history.steps == 2


def test_no_batches_is_an_error():
    with pytest.raises(ValueError, match="no batch"):
        fit(model(), lambda g: [], Seq2SeqLoss(START, PAD), steps=1, rate=lambda s: 1.0, progress=False)
    with pytest.raises(ValueError, match="no pairs"):
        PairBatches([], 10, PAD)


def test_progress_is_told_on_stdout(capsys):
    fit(model(), copying(), Seq2SeqLoss(START, PAD), steps=2, rate=lambda s: 1e-3)
    out, err = capsys.readouterr()
    assert "loss" in out and "tokens/s" in out and err == ""


def test_every_pair_comes_once_and_like_lengths_together():
    batches = copying()
    seen = list(batches(torch.Generator().manual_seed(0)))
    rows = sorted(tuple(i for i in row if i != PAD) for batch in seen for row in batch.tgt.tolist())
    assert rows == sorted(tuple(target) for _, target in batches.pairs)
    assert all(batch.tgt.numel() <= 64 for batch in seen)
    assert sum(b.tgt.eq(PAD).sum() for b in seen) < 0.1 * sum(b.tgt.numel() for b in seen)
    assert batches(torch.Generator().manual_seed(0)).__next__().src.tolist() == seen[0].src.tolist()


def test_word_dropout_spares_start_and_padding_and_evaluation():
    loss = Seq2SeqLoss(START, PAD, word_dropout=0.99, unk_id=3)
    ids = torch.tensor([[START, 5, 6, 7, 8, 9, PAD]])
    assert loss.drop_words(ids)[0, [0, -1]].tolist() == [START, PAD]
    assert loss.drop_words(ids).eq(3).any()
    with pytest.raises(ValueError, match="unk_id"):
        Seq2SeqLoss(START, PAD, word_dropout=0.5)


def test_weights_go_to_disk_and_back(tmp_path):
    net, other = model(0), model(1)
    save_weights(net, tmp_path / "m.safetensors")
    load_weights(other, tmp_path / "m.safetensors")
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), other.parameters(), strict=True))
    with pytest.raises(FileNotFoundError, match="save it there first"):
        load_weights(other, tmp_path / "none.safetensors")
    with pytest.raises(ValueError, match="another model's"):
        load_weights(nn.Linear(2, 2), tmp_path / "m.safetensors")
