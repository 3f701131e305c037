"""What training keeps: nothing is copied or saved that the backward pass does not need."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tfkit.nn import attend, attend_by_hand, merge_heads, split_heads
from tfkit.nn.experts import mix_experts
from tfkit.nn.feed_forward import GatedFeedForward
from tfkit.nn.rms_norm import RMSNorm
from tfkit.nn.rope import rope_frequencies, rope_rotation, rotate_halves


class OperationCounter(TorchDispatchMode):
    """The operations that run, with the sizes of their results."""

    def __init__(self):
        super().__init__()
        self.names, self.sizes = [], []

    def __torch_dispatch__(self, operation, types, given=(), named=None):
        out = operation(*given, **(named or {}))
        self.names.append(operation.overloadpacket.__name__)
        written = isinstance(out, torch.Tensor) and self.names[-1] != "detach"
        self.sizes.append(out.numel() if written else 0)
        return out


def saved_bytes(run):
    """The bytes that autograd saves for `run`, of tensors other than those that were there before."""
    kept = {}

    def keep(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        out = run()
    return sum(kept.values()), out


def test_rotated_heads_are_merged_without_a_copy():
    x = torch.randn(2, 10, 32, requires_grad=True)
    rotation = rope_rotation(torch.arange(10), *rope_frequencies(8, 10000.0, length=10, max_length=10), torch.float32)
    with OperationCounter() as counter:
        q = rotate_halves(split_heads(x * 2, 4), *rotation)
        merge_heads(attend(q, q, split_heads(x * 3, 4), causal=True)).sum().backward()
    assert "clone" not in counter.names


def test_the_sum_over_experts_saves_their_outputs_once():
    torch.manual_seed(0)
    experts = [GatedFeedForward(64, 8).double() for _ in range(4)]
    x = torch.randn(100, 64, dtype=torch.float64, requires_grad=True)
    weights, chosen = torch.rand(100, 2, dtype=torch.float64).requires_grad_(), torch.randn(100, 4).topk(2).indices
    saved, out = saved_bytes(lambda: mix_experts(x, weights, chosen, experts))
    row = 200 * 8  # one number for each choice of each token
    weight_bytes = sum(p.nbytes for e in experts for p in e.parameters())
    assert saved < weight_bytes + row * (2 * 64 + 4 * 8) + x.nbytes + 20 * row  # input and output; inner width 8
    one_by_one = sum(
        weights[:, [place]] * torch.stack([experts[e](row) for row, e in zip(x, chosen[:, place], strict=True)])
        for place in (0, 1)
    )
    torch.testing.assert_close(out, one_by_one)
    found, expected = (torch.autograd.grad(y.sin().sum(), (x, weights)) for y in (out, one_by_one))
    torch.testing.assert_close(found, expected)


def test_rms_norm_never_stores_the_squares():
    x, norm = torch.randn(3, 5, 16, dtype=torch.float64, requires_grad=True), RMSNorm(16).double()
    with OperationCounter() as counter:
        found = norm(x)
    assert counter.sizes.count(x.numel()) == 2  # the normalized states, and those times the weight
    expected = norm.weight * x / (x.pow(2).mean(-1, keepdim=True) + norm.eps).sqrt()
    torch.testing.assert_close(found, expected)
    grads = [torch.autograd.grad(y.sin().sum(), (x, norm.weight)) for y in (found, expected)]
    torch.testing.assert_close(*grads)
    zeros = torch.zeros(2, 16, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.grad(norm(zeros).sum(), zeros)[0].isfinite().all()


@pytest.mark.parametrize(
    "how", [{"causal": True}, {"bias": torch.randn(1, 1, 6, 6)}, {"mask": torch.ones(6, 6).tril(-1) > 0}]
)
def test_a_soft_cap_multiplies_queries_and_keys_once(how):
    generator = torch.Generator().manual_seed(0)
    ours, theirs = ([torch.randn(2, 3, 6, 4, generator=generator).requires_grad_() for _ in range(3)] for _ in range(2))
    for one, other in zip(ours, theirs, strict=True):
        other.data.copy_(one.data)
    with OperationCounter() as counter:
        found = attend(*ours, softcap=2.0, **how)
    assert counter.names.count("bmm") == 2
    expected = attend_by_hand(*theirs, softcap=2.0, **how)[0]
    torch.testing.assert_close(found, expected)
    grads = [torch.autograd.grad(y.sin().sum(), given) for y, given in ((found, ours), (expected, theirs))]
    torch.testing.assert_close(*grads)
