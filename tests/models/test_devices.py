"""Laws of every architecture and head on another device than the CPU: it runs there, forward and backward, mixes no
devices, and no forward pass makes the host wait. Without a card by a pretended device, with one on the card."""

from contextlib import nullcontext

import pytest
import torch

from tests.autograder.pretended import DEVICE, pretended, waiting
from tests.models.table import ROWS, kind
from tests.models.test_laws import lesson, make, value
from tfkit import registry

NOT_PRETENDED = {
    "rnn_seq2seq": "packed sequences are made in C++, where the pretended device is not known",
}
WAITS = {
    "deepseek_v3": "how many tokens an expert has decides a shape",
    "gpt_oss": "how many tokens an expert has decides a shape",
    "longformer": "how many tokens are global decides a shape",
    "mixtral": "how many tokens an expert has decides a shape",
    "rnn_seq2seq": "PyTorch wants the lengths of packed sequences on the host",
    "transformer_xl": "how many words of a rare cluster there are decides a shape",
}
need_card = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here")


def row_heads(name):
    return ROWS[name].heads or registry.load(kind(name)).MODEL.HEADS


def moved(given, device):
    return {key: item.detach().to(device) if isinstance(item, torch.Tensor) else item for key, item in given.items()}


@pytest.fixture
def no_autocast_there(monkeypatch):
    """torch refuses to be asked for autocast on `meta`, for which the pretended device gives itself out."""
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda kind: False)
    monkeypatch.setattr(torch, "get_autocast_dtype", lambda kind: torch.bfloat16)
    monkeypatch.setattr(torch, "autocast", lambda **how: nullcontext())


@pytest.mark.parametrize("name", sorted(ROWS.keys() - NOT_PRETENDED.keys()))
def test_runs_on_another_device_and_waits_for_nothing(name, no_autocast_there):
    """In training, where dropout and random blocks are drawn, too; with each head."""
    seen = []
    for head in row_heads(name):
        row, model = make(name, head, torch.float32)
        given = lesson(row, model)
        with pretended():
            there, given = model.train().to(DEVICE), moved(given, DEVICE)
            with waiting() as waits:
                out = there(**given)
            if waits:  # the first time something may be made that is kept
                with waiting() as waits:
                    out = there(**given)
            sum(t.sum() for t in out.values() if isinstance(t, torch.Tensor) and t.requires_grad).backward()
        assert all(p.grad is None or p.grad.device.type == DEVICE for p in there.parameters()), head
        seen += [(head, wait) for wait in waits]
    assert bool(seen) == (name in WAITS), seen  # an exception that is none any more goes


@pytest.mark.parametrize(
    ("what", "names"),
    [
        (lambda x: x.sum().item(), ["_local_scalar_dense"]),
        (lambda x: bool(x.any()), ["_local_scalar_dense"]),
        (lambda x: x[x > 1], ["index"]),
        (lambda x: x[:, [0, 1]], ["index"]),
        (lambda x: x.nonzero(), ["nonzero"]),
        (lambda x: x.cpu(), ["_to_copy"]),
        (lambda x: torch.ones(2).to(x.device), ["_to_copy"]),
        (lambda x: torch.tensor([1.0], device=x.device), ["_to_copy"]),
        (lambda x: x.new_full((), 2.0) * x.sum(0) + x.masked_fill(x > 1, 0.0), []),
    ],
)
def test_what_would_wait_is_counted(what, names):
    with pretended():
        x = torch.tensor([[1.0, 2.0]]).to(DEVICE)
        with waiting() as seen:
            what(x)
    assert seen == names


# -- with a card: `pytest -m gpu tests/models/test_devices.py` --------------------------------------------------------
@pytest.mark.gpu
@need_card
@pytest.mark.parametrize("name", ROWS)
def test_runs_on_the_card(name, monkeypatch):
    """Every head, in float32 and bfloat16: forward without a wait, backward; in float32 the CPU's loss."""
    if name == "rnn_seq2seq":  # cuDNN's recurrent layers have gradients in training only
        monkeypatch.setattr(torch.backends.cudnn, "enabled", False)
    for head in row_heads(name):
        for dtype in (torch.float32, torch.bfloat16):
            row, model = make(name, head, dtype)
            given = lesson(row, model)
            expected = value(model(**given))
            found = value_there(name, model.to("cuda"), moved(given, "cuda"))
            assert found.isfinite(), (head, dtype)
            if dtype == torch.float32 and model.head is not None:
                torch.testing.assert_close(found.cpu(), expected, rtol=1e-3, atol=1e-4)
            found.backward()
            assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None), (head, dtype)


def value_there(name, model, given):
    """`value`, of a second forward pass in which waiting is an error, but for the exceptions."""
    model(**given)
    torch.cuda.set_sync_debug_mode("default" if name in WAITS else "error")
    try:
        out = model(**given)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return value({key: item.cpu() if isinstance(item, torch.Tensor) else item for key, item in out.items()})
