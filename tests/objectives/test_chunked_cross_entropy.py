"""The loss over words without holding logits: the same number, the same gradients, a fraction of the memory."""

from collections import Counter
from contextlib import nullcontext

import pytest
import torch
from torch._inductor.utils import run_and_get_code
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

import tfkit
from tests.models.table import ROWS, kind
from tests.models.test_laws import lesson, make
from tfkit import registry
from tfkit.objectives import chunked_cross_entropy as chunked
from tfkit.objectives.chunked_cross_entropy import DeferredLogits, chunked_logits
from tfkit.objectives.cross_entropy import cross_entropy, word_scores
from tfkit.tools.memory import MemoryMeter, peak_bytes

WORDS = ("masked_lm", "causal_lm", "seq2seq_lm", "pretraining")
OTHERS = {  # their loss is no plain cross-entropy over words, or is smoothed
    "electra-pretraining", "mmbt", "prophetnet", "rag", "reformer", "rnn_seq2seq", "transformer", "transformer_xl",
    "vit", "xlm_prophetnet",
}  # fmt: skip


HEADS = [
    pytest.param(name, head, id=f"{name}-{head}")
    for name, row in ROWS.items()
    for head in row.heads or registry.load(kind(name)).MODEL.HEADS
    if head in WORDS
]


@pytest.mark.parametrize(("name", "head"), HEADS)
def test_every_head_over_words_has_the_same_loss_and_gradients(name, head):
    row, model = make(name, head)
    given = lesson(row, model)
    expected = model(**given)
    expected.loss.backward()
    wanted = {n: p.grad for n, p in model.named_parameters()}
    model.zero_grad()
    with chunked_logits(5):
        found = model(**given)
    assert (found.logits is None) == (kind(name) not in OTHERS) or expected.logits is None
    torch.testing.assert_close(found.loss, expected.loss)
    found.loss.backward()
    for n, p in model.named_parameters():
        torch.testing.assert_close(p.grad, wanted[n], msg=lambda text, n=n: f"{n}: {text}")


def drawn(rows=7, width=4, words=11, dtype=torch.float64):
    torch.manual_seed(0)
    x, weight, bias = torch.randn(rows, width), torch.randn(words, width), torch.randn(words)
    labels = torch.randint(words, (rows,)).index_fill(0, torch.tensor([2]), -100)
    return [t.to(dtype).requires_grad_() for t in (x, weight, bias)], labels


@pytest.mark.parametrize("rows", [0, 1, 3, 7, 100])
@pytest.mark.parametrize("cap", [None, 2.0])
def test_the_number_of_rows_changes_nothing(rows, cap):
    parts, labels = drawn()
    logits = torch.nn.functional.linear(*parts)
    expected = cross_entropy(logits if cap is None else cap * (logits / cap).tanh(), labels)
    with chunked_logits(rows):
        found = cross_entropy(DeferredLogits(*parts, cap=cap), labels)
        torch.testing.assert_close(found, expected)
        one, other = (torch.autograd.grad(3 * loss, parts) for loss in (found, expected))
    for a, b in zip(one, other, strict=True):
        torch.testing.assert_close(a, b)


def test_what_is_frozen_gets_no_gradient():
    (x, weight, bias), labels = drawn()
    weight.requires_grad_(False)
    with chunked_logits(2):
        cross_entropy(word_scores(x, weight, bias), labels).backward()
    assert weight.grad is None and x.grad.any() and bias.grad.any()


def test_no_label_is_a_loss_of_zero():
    parts, labels = drawn()
    with chunked_logits():
        loss = cross_entropy(word_scores(*parts), torch.full_like(labels, -100))
    loss.backward()
    assert loss == 0 and not parts[1].grad.any()


def test_bfloat16_is_as_near_as_with_all_logits():
    parts, labels = drawn(64, 32, 100, torch.bfloat16)
    exact = cross_entropy(torch.nn.functional.linear(*(t.double() for t in parts)), labels.clone())
    with chunked_logits(8):
        found = cross_entropy(word_scores(*parts), labels)
    assert found.dtype == torch.float32 and abs(found - exact) < 0.02 * exact


def test_a_label_outside_of_the_vocabulary_is_named():
    parts, labels = drawn()
    with chunked_logits(), pytest.raises(ValueError, match="labels hold 11: classes go from 0 to 10"):
        cross_entropy(word_scores(*parts), labels.index_fill(0, torch.tensor([0]), 11))
    with pytest.raises(ValueError, match="rows=-1"), chunked_logits(-1):
        pass


def test_logits_are_never_held():
    model = tfkit.from_config("gpt2", "causal_lm", vocab_size=4000, d_model=16, n_layers=1, n_heads=2)
    ids = torch.randint(4000, (4, 64))
    step = lambda: model(ids, labels=ids).loss.backward()
    whole = peak_bytes(step)
    with chunked_logits(16):
        chunked = peak_bytes(step)
    logits = 4 * ids.numel() * 4000
    assert whole > 2 * logits and chunked < logits / 2


def test_compiles_as_one_graph():
    parts, labels = drawn()
    torch.compiler.reset()
    loss = torch.compile(lambda: cross_entropy(word_scores(*parts), labels), fullgraph=True, backend="aot_eager")
    with chunked_logits(4):
        found = loss()
    torch.testing.assert_close(found, cross_entropy(torch.nn.functional.linear(*parts), labels))
    found.backward()
    assert all(part.grad.any() for part in parts)


@pytest.mark.slow
def test_compiled_no_matrix_of_a_chunk_is_in_float32():
    parts, labels = drawn(64, 16, 100, torch.float32)

    def loss(*parts):
        with torch.autocast("cpu", torch.bfloat16):
            return cross_entropy(DeferredLogits(*parts), labels)

    torch.compiler.reset()
    with chunked_logits(16):
        found, code = run_and_get_code(torch.compile(loss, fullgraph=True), *parts)
        torch.testing.assert_close(found, loss(*parts))
    assert "(16, 100), (100, 1), torch.bfloat16" in "".join(code)
    assert "(16, 100), (100, 1), torch.float32" not in "".join(code)


def test_words_added_for_fast_products_change_nothing(monkeypatch):
    """As on a GPU, whose fast kernels take no odd number of columns."""
    generator = torch.Generator().manual_seed(0)
    draw = lambda *size: torch.randn(*size, generator=generator, dtype=torch.float64)
    labels = torch.tensor([3, -100, 0, 12, 5, 7, 7])
    found = []
    for multiple in (1, 8):
        monkeypatch.setitem(chunked.PAD_TO_MULTIPLE_OF, "cpu", multiple)
        for cap in (None, 3.0):
            generator.manual_seed(0)
            given = [draw(7, 6).requires_grad_(), draw(13, 6).requires_grad_(), draw(13).requires_grad_()]
            with chunked_logits(3):
                loss = DeferredLogits(*given, cap).total_loss(labels, -100)
            found.append([loss, *torch.autograd.grad(loss, given)])
    for plain, padded in zip(found[:2], found[2:], strict=True):
        torch.testing.assert_close(padded, plain, rtol=1e-12, atol=1e-12)


class GradientWrites(TorchDispatchMode):
    """Counts the bytes that operations write into the gradient [V,E]: those of products by themselves, and others."""

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.size, self.width, self.bytes = weight.nbytes, weight.size(1), Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **kwargs or {})
        for argument, tensor in zip(func._schema.arguments, args, strict=False):
            if (
                argument.is_write
                and tensor.shape[-1:] == (self.width,)
                and tensor.untyped_storage().nbytes() == self.size
            ):
                kind = "product" if func is torch.ops.aten.addmm_.default else "other"
                self.bytes[kind] += tensor.nbytes
        return out


LLAMA = (8192, 2048, 128_256)  # tokens, width, words of LLaMA 3.2 1B
# dtype, autocast, peak of bytes when a chunk was 2**25 logits: 32 chunks were added to the gradient one by one
DTYPES = [
    pytest.param(torch.float32, True, 2_372_511_501, id="autocast"),
    pytest.param(torch.float32, False, 2_304_492_813, id="float32"),
    pytest.param(torch.bfloat16, False, 1_286_145_805, id="bfloat16"),
]


@pytest.mark.parametrize(("dtype", "autocast", "before"), DTYPES)
def test_the_gradient_of_a_large_vocabulary_is_passed_over_twice_at_most(dtype, autocast, before):
    rows, width, words = LLAMA
    with FakeTensorMode():  # shapes, dtypes and bytes without the numbers
        x = torch.empty(rows, width, dtype=dtype, requires_grad=True)
        weight = torch.empty(words, width, dtype=dtype, requires_grad=True)
        labels = torch.zeros(rows, dtype=torch.long)
        context = torch.autocast("cpu", torch.bfloat16) if autocast else nullcontext()
        writes, memory = GradientWrites(weight), MemoryMeter()
        with chunked_logits(), context, writes, memory:
            DeferredLogits(x, weight).total_loss(labels, -100)
    assert writes.bytes["other"] <= 2 * weight.nbytes  # what a product adds by itself is no pass of its own
    assert writes.bytes["other"] + writes.bytes["product"] >= weight.nbytes
    assert memory.peak <= 1.2 * before


@pytest.mark.parametrize("rows", [0, 3])
def test_under_autocast_the_gradients_are_in_the_weights_dtype(rows):
    parts, labels = drawn(64, 32, 100, torch.float32)
    exact = cross_entropy(torch.nn.functional.linear(*(t.double() for t in parts)), labels)
    wanted = torch.autograd.grad(exact, parts)
    with chunked_logits(rows), torch.autocast("cpu", torch.bfloat16):
        loss = cross_entropy(DeferredLogits(*parts), labels)
    found = torch.autograd.grad(loss, parts)
    torch.testing.assert_close(loss.double(), exact.double(), rtol=0.02, atol=0)
    for got, want in zip(found, wanted, strict=True):
        assert got.dtype == torch.float32
        torch.testing.assert_close(got, want, rtol=0, atol=0.02 * float(want.abs().max()))


def test_pieces_of_a_chunk_change_nothing(monkeypatch):
    parts, labels = drawn(13, 4, 11)
    expected = cross_entropy(torch.nn.functional.linear(*parts), labels)
    monkeypatch.setattr(chunked, "PIECE", 22)  # two rows at a time, and one that is left
    for cap in (None, 2.0):
        logits = torch.nn.functional.linear(*parts)
        expected = cross_entropy(logits if cap is None else cap * (logits / cap).tanh(), labels)
        with chunked_logits(5):
            found = cross_entropy(DeferredLogits(*parts, cap=cap), labels)
        torch.testing.assert_close(found, expected)
        pairs = zip(torch.autograd.grad(found, parts), torch.autograd.grad(expected, parts), strict=True)
        for one, other in pairs:
            torch.testing.assert_close(one, other)


def test_a_row_that_does_not_count_may_hold_no_number():
    (x, weight, bias), labels = drawn()
    banned = bias.detach().index_fill(0, torch.tensor([0]), float("-inf"))
    labels = labels.clamp(min=1).index_fill(0, torch.tensor([2, 4]), -100)
    for states in (x, x.detach().index_fill(0, torch.tensor([4]), float("nan"))):
        expected = torch.nn.functional.cross_entropy(torch.nn.functional.linear(states, weight, banned), labels)
        with chunked_logits(3):
            found = cross_entropy(DeferredLogits(states, weight, banned), labels)
        torch.testing.assert_close(found, expected)
        assert found.isfinite()


def test_in_float16_no_sum_overflows_before_it_is_divided():
    x = (torch.full((2048, 4), 50.0) + torch.randn(2048, 4)).half().requires_grad_()
    weight = torch.randn(11, 4).half().requires_grad_()
    labels = torch.full((2048,), 3)
    with chunked_logits():
        cross_entropy(DeferredLogits(x, weight), labels).backward()
    logits = torch.nn.functional.linear(x.detach().double(), exact := weight.detach().double().requires_grad_())
    torch.nn.functional.cross_entropy(logits, labels).backward()
    assert weight.grad.isfinite().all() and torch.finfo(torch.float16).max < 2048 * 50
    torch.testing.assert_close(weight.grad.double(), exact.grad, rtol=0.02, atol=0.1)


def test_without_gradients_none_is_computed(monkeypatch):
    parts, labels = drawn()
    expected = cross_entropy(torch.nn.functional.linear(*parts), labels)
    monkeypatch.setattr(chunked, "_derivative", None)  # a call would raise
    for context in (torch.no_grad(), torch.inference_mode()):
        with chunked_logits(3), context:
            torch.testing.assert_close(cross_entropy(DeferredLogits(*parts), labels), expected.detach())
