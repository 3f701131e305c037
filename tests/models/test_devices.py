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
# neither in steps of decoding nor in groups, which bfloat16 has: tests/nn/test_experts_in_a_step.py and …_in_groups.py
ROUTED = "how many tokens an expert has decides a shape"
WAITS = {  # by architecture -> head -> why; None: with every head
    "deepseek_v3": {None: ROUTED},
    "gpt_oss": {None: ROUTED},
    "longformer": {None: "how many tokens the caller marks as global decides a shape"},
    "mixtral": {None: ROUTED},
    "qwen3_moe": {None: ROUTED},
    "qwen3_next": {None: ROUTED},
    "rnn_seq2seq": {None: "PyTorch wants the lengths of packed sequences on the host"},
    "transformer_xl": {"causal_lm": "how many words of a rare cluster there are decides a shape of the loss"},
}
need_card = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here")


def may_wait(name, head):
    return not WAITS.get(name, {}).keys().isdisjoint({None, head})


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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", sorted(ROWS.keys() - NOT_PRETENDED.keys()))
def test_runs_on_another_device_and_waits_for_nothing(name, no_autocast_there):
    """In training, where dropout and random blocks are drawn, too; with each head."""
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
        assert bool(waits) == may_wait(name, head), (head, waits)  # an exception that is none any more goes


@torch.no_grad()
@pytest.mark.parametrize("head", [None, "masked_lm", "token_classification", "sequence_classification"])
def test_longformer_waits_only_for_tokens_that_the_caller_marks(head, no_autocast_there):
    """A classifier's one global token is known beforehand."""
    row, model = make("longformer", head, torch.float32)
    given = {name: item for name, item in lesson(row, model).items() if name != "global_attention_mask"}
    with pretended():
        there, given = model.to(DEVICE), moved(given, DEVICE)
        there(**given)
        with waiting() as waits:
            there(**given)
    assert not waits


@pytest.mark.parametrize(
    ("what", "names"),
    [
        (lambda x: x.sum().item(), ["_local_scalar_dense"]),
        (lambda x: bool(x.any()), ["_local_scalar_dense"]),
        (lambda x: x[x > 1], ["index"]),
        (lambda x: x[:, [0, 1]], ["index"]),
        (lambda x: x.nonzero(), ["nonzero"]),
        (lambda x: x.multinomial(1), ["multinomial"]),
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
    torch.cuda.set_sync_debug_mode("default" if may_wait(name, model.head) else "error")
    try:
        out = model(**given)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return value({key: item.cpu() if isinstance(item, torch.Tensor) else item for key, item in out.items()})
