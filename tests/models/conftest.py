"""What the comparisons with transformers share: the same weights on both sides, by way of files, and ragged batches."""

import re
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

import tfkit
from tfkit.hub.loading import shapes_only
from tfkit.namemap import map_of
from tfkit.tools.memory import peak_bytes

CLOSE = {torch.float32: {"rtol": 1e-4, "atol": 1e-5}, torch.float64: {"rtol": 1e-9, "atol": 1e-9}}


IN_FILES = {"lm_head.weight": "embed_out.weight"}  # what they call a parameter in memory -> in files (GPT-NeoX)


class Double:
    """torch, but wherever their code says float32 it means float64: their upcasts would cut our digits off."""

    float32 = float = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


def calling_double(theirs):
    """Their model, whose forward pass means double wherever it calls a tensor's `.float()`."""
    forward = theirs.forward

    def doubled(*args, **given):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.Tensor, "float", torch.Tensor.double)
            return forward(*args, **given)

    theirs.forward = doubled
    return theirs


def of_float32(theirs):
    """Their model, whose parameters are numbers of float32, as files have them, though it was made in `Double`."""
    for parameter in theirs.parameters():
        parameter.data = parameter.data.float()
    return theirs


def shake(model):
    """Fresh biases are zero and fresh norms one: that would hide a mix-up."""
    torch.manual_seed(0)
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model.eval()


def ragged(rows=3, length=11, vocab=99, seed=1):
    """-> ids [B,L], mask [B,L] of ones and zeros, labels [B,L]; padded on the right"""
    ids = torch.randint(3, vocab, (rows, length), generator=torch.Generator().manual_seed(seed))
    mask = (torch.arange(length) < length - 2 * torch.arange(rows)[:, None]).long()
    return ids, mask, ids.masked_fill(mask == 0, -100)


def names_of(name, model):
    """The map of tensor names: the model's own, if it is made of others, and apart where it is untied."""
    return map_of(model, tfkit.registry.load(name).HF)


def experts_together(grads):
    """Experts, each by itself in files, as they have them in memory: [N,·,·], a gate above what it multiplies."""
    alone = re.compile(r"(.+\.experts)\.(\d+)\.(gate|up|down)_proj\.weight")
    found = {match.groups(): grads[n] for n in grads if (match := alone.fullmatch(n))}
    grads = {n: grad for n, grad in grads.items() if not alone.fullmatch(n)}
    for stem in dict.fromkeys(stem for stem, _, _ in found):
        count = sum(key[0] == stem for key in found) // 3
        gates, ups, downs = ([found[stem, str(i), kind] for i in range(count)] for kind in ("gate", "up", "down"))
        grads[f"{stem}.gate_up_proj"] = torch.stack([torch.cat(pair) for pair in zip(gates, ups, strict=True)])
        grads[f"{stem}.down_proj"] = torch.stack(downs)
    return grads


def assert_same_loss_and_gradients(name, theirs, ours, expected, out, labels, dtype, unused=()):
    """transformers computes its loss in float32; so both losses are held against its own in float64, from their logits.
    unused: parts of the names of transformers' parameters that have no gradient on either side"""
    loss = F.cross_entropy(expected.flatten(0, 1), labels.flatten())
    torch.testing.assert_close(out.loss, loss, **CLOSE[dtype])
    (100 * loss).backward(), (100 * out.loss).backward()  # times 100: an absolute tolerance must not hide them
    grads = {n: p.grad for n, p in ours.named_parameters() if p.grad is not None or not unused}
    assert all(grad is not None for grad in grads.values()), [n for n, grad in grads.items() if grad is None]
    grads = experts_together(names_of(name, ours).dump(grads, with_head=True))
    close = {**CLOSE[dtype], "atol": 10 * CLOSE[dtype]["atol"]}
    for parameter, grad in ((n, p.grad) for n, p in theirs.named_parameters()):
        if any(part in parameter for part in unused):
            assert grad is None and parameter not in grads, parameter
            continue
        found = grads[parameter] if parameter in grads else grads[IN_FILES[parameter]]
        torch.testing.assert_close(found, grad, **close, msg=lambda text, n=parameter: f"{n}: {text}")


def assert_same_causal(name, theirs, ours, dtype):
    """Logits where a token is, the loss, and the gradient of every parameter."""
    ids, mask, labels = ragged()
    theirs, ours = theirs.to(dtype), ours.to(dtype)
    expected, out = theirs(ids, attention_mask=mask).logits, ours(ids, mask, labels=labels)
    torch.testing.assert_close(out.logits[mask == 1], expected[mask == 1], **CLOSE[dtype])
    assert_same_loss_and_gradients(name, theirs, ours, expected[:, :-1], out, labels[:, 1:], dtype)


def assert_same_seq2seq(name, theirs, ours, dtype, unused=()):
    ids, mask, _ = ragged(length=13, seed=2)
    _, _, labels = ragged()
    theirs, ours = theirs.to(dtype), ours.to(dtype)
    expected = theirs(ids, attention_mask=mask, labels=labels)
    out = ours(ids, mask, labels=labels)
    real = labels != -100
    torch.testing.assert_close(out.logits[real], expected.logits[real], **CLOSE[dtype])
    torch.testing.assert_close(
        out.encoder_last_hidden_state[mask == 1], expected.encoder_last_hidden_state[mask == 1], **CLOSE[dtype]
    )
    assert_same_loss_and_gradients(name, theirs, ours, expected.logits, out, labels, dtype, unused)


def read(theirs, directory):
    """Our model with their weights, from the files that they write."""
    theirs.save_pretrained(directory)
    return tfkit.from_pretrained(directory)


def assert_same_files(theirs, ours, directory):
    """transformers reads what we write, and finds what it had."""
    ours.save_pretrained(directory)
    again = type(theirs).from_pretrained(directory)
    for name, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor), name
    ids, mask, labels = ragged()
    with torch.no_grad():
        expected, found = (m(ids, attention_mask=mask, labels=labels).logits for m in (theirs, again.eval()))
    assert torch.equal(found, expected)


def value(out):
    """The loss, or the sum of several; or, of hidden states, something that depends on each of them."""
    if losses := [x for name, x in out.items() if name.endswith("loss") and x is not None]:
        return sum(losses)
    return sum((x * torch.arange(x.numel(), dtype=x.dtype).view_as(x).cos()).sum() for x in out.values())


def assert_same_fields_and_gradients(name, theirs, ours, given, *, unused=(), without=()):
    """All that they return, in float64 and float32, and the gradient of every parameter in float64.

    unused: transformers' parameters that have no gradient on either side; without: fields not compared
    """
    theirs, ours = theirs.double(), ours.double()
    expected, out = {k: x for k, x in theirs(**given).items() if k not in without}, ours(**given)
    for key, tensor in expected.items():
        torch.testing.assert_close(out[key], tensor, **CLOSE[torch.float64], msg=lambda text, n=key: f"{n}: {text}")
    value(expected).backward(), value({key: out[key] for key in expected}).backward()
    names = names_of(name, ours)
    grads = {n: p.grad for n, p in ours.named_parameters() if p.grad is not None}
    grads = names.dump(grads, with_head=ours.head is not None)
    close = {"rtol": 1e-9, "atol": 1e-8}
    for parameter, tensor in theirs.named_parameters():
        if any(part in parameter for part in unused):
            assert parameter not in grads and tensor.grad is None, parameter
            continue
        if parameter not in grads and parameter in names.tied:
            parameter = names.prefix + names.tied[parameter]
        torch.testing.assert_close(grads.pop(parameter), tensor.grad, **close, msg=lambda t, n=parameter: f"{n}: {t}")
    assert not grads
    theirs, ours = theirs.float(), ours.float()
    given = {key: t.float() if t.is_floating_point() else t for key, t in given.items()}
    out = ours(**given)
    for key, tensor in theirs(**given).items():
        if key not in without:
            torch.testing.assert_close(out[key], tensor, **CLOSE[torch.float32])


@torch.no_grad()
def assert_same_with_cache(ours, make_cache=lambda: None, **inputs):
    """inputs: what is the same at each step; the decoder reads its ids in four parts."""
    ids, _, _ = ragged()
    place = "decoder_input_ids" if inputs else "input_ids"
    cache, parts = make_cache(), []
    for part in ids.split([4, 1, 1, 5], 1):
        out = ours(**{place: part}, **inputs, cache=cache, use_cache=True)
        cache = out.cache
        parts.append(out.logits)
    torch.testing.assert_close(torch.cat(parts, 1), ours(**{place: ids}, **inputs).logits, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def assert_same_greedy(theirs, ours):
    """The same ids, for sentences of unequal length, from caches on both sides; end tokens out of reach, 12 steps."""
    ids, mask, _ = ragged(seed=7)
    settings = {"max_new_tokens": 12, "do_sample": False, "eos_token_id": None, "forced_eos_token_id": None}
    expected = theirs.generate(ids, attention_mask=mask, **settings)
    found = tfkit.generate(ours, ids, attention_mask=mask, end_id=-1, max_new_tokens=12)
    assert torch.equal(found, expected)
    assert found.unique().numel() > 3  # or the comparison would say little


@torch.no_grad()
def assert_bfloat16_is_finite(ours):
    ids, mask, labels = ragged()
    out = ours.to(torch.bfloat16)(ids, mask, labels=labels)
    assert out.logits.dtype == torch.bfloat16
    assert out.logits.isfinite().all()
    assert out.loss.isfinite()


@torch.no_grad()
def assert_padding_and_future_change_nothing(ours):
    """A row alone, without its padding, and with another last token: what comes before is as it was."""
    ids, mask, _ = ragged()
    together = ours(ids, mask).logits
    short = int(mask[1].sum())
    close = {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(ours(ids[1:2, :short]).logits[0], together[1, :short], **close)
    other = ids.clone()
    other[0, -1] = (other[0, -1] + 1) % 99
    changed = ours(other, mask).logits
    torch.testing.assert_close(changed[0, :-1], together[0, :-1], **close)
    assert not torch.allclose(changed[0, -1], together[0, -1])


def count(name, head):
    with shapes_only():
        model = tfkit.from_config(name, head=head)
    return sum(p.numel() for p in model.parameters())


@pytest.fixture
def parity():
    """The helpers of this file; and what is drawn from here on, first weights too, is the same each time."""
    torch.manual_seed(0)
    helpers = (
        Double,
        calling_double,
        of_float32,
        shake,
        ragged,
        read,
        count,
        peak_bytes,
        assert_same_causal,
        assert_same_seq2seq,
    )
    helpers += (assert_same_files, assert_same_with_cache, assert_same_greedy, assert_same_fields_and_gradients)
    helpers += (assert_bfloat16_is_finite, assert_padding_and_future_change_nothing)
    return SimpleNamespace(**{helper.__name__: helper for helper in helpers})
