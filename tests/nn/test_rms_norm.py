"""RMSNorm's own gradient, and products in memory that nothing else reads."""

import pytest
import torch
import torch.nn.functional as F

from tfkit.nn.feed_forward import ACTIVATIONS, GatedFeedForward
from tfkit.nn.in_place import multiply
from tfkit.nn.rms_norm import RMSNorm, UnitOffsetRMSNorm, WideRMSNorm
from tfkit.nn.rope import rotate_halves

CLASSES = (RMSNorm, WideRMSNorm, UnitOffsetRMSNorm)


def drawn(kind=RMSNorm):
    torch.manual_seed(0)
    norm = kind(5, 1e-2).double()
    torch.nn.init.normal_(norm.weight)
    return torch.randn(3, 2, 5, dtype=torch.float64, requires_grad=True), norm


@pytest.mark.parametrize("kind", CLASSES)
def test_gradients_of_the_norm_are_pytorchs(kind):
    x, norm = drawn(kind)
    weight = norm.weight + (kind is UnitOffsetRMSNorm)
    found, expected = norm(x), F.rms_norm(x, (5,), weight, norm.eps)
    torch.testing.assert_close(found, expected)
    grads = [torch.autograd.grad(y.sin().sum(), (x, norm.weight), retain_graph=True) for y in (found, expected)]
    torch.testing.assert_close(*grads)


def test_the_norm_is_differentiated_twice_forward_and_in_batches():
    x, norm = drawn()
    assert torch.autograd.gradcheck(norm, x, check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(norm, x, check_batched_grad=True)
    ours, theirs = (lambda x: norm(x).sin().sum()), (lambda x: F.rms_norm(x, (5,), norm.weight, 1e-2).sin().sum())
    for transform in (torch.func.hessian, lambda f: torch.func.vmap(torch.func.grad(f))):
        torch.testing.assert_close(transform(ours)(x), transform(theirs)(x))


def test_the_norm_keeps_its_result_and_not_its_input():
    x, norm = drawn()
    kept = set()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.add(t.data_ptr()) or t, lambda t: t):
        norm(x)
    assert kept and x.data_ptr() not in kept


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("weights", [torch.float32, torch.bfloat16])
def test_without_gradients_the_norm_gives_the_same(kind, dtype, weights):
    x, norm = drawn(kind)
    x, norm = x.detach().to(dtype), norm.to(weights)
    before = x.clone()
    with torch.no_grad():
        found = norm(x)
    torch.testing.assert_close(found, norm(x).detach(), rtol=0, atol=0)
    torch.testing.assert_close(x, before, rtol=0, atol=0)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_no_module_output_is_written_over(name):
    torch.manual_seed(0)
    ff, held = GatedFeedForward(4, 6, ACTIVATIONS[name]), []
    for layer in (ff.gate, ff.up):
        layer.register_forward_hook(lambda _, __, out: held.append((out, out.clone())))
    x = torch.randn(2, 3, 4)
    with torch.no_grad():
        found = ff(x)
    torch.testing.assert_close(found, ff(x).detach(), rtol=0, atol=0)
    assert all(torch.equal(out, then) for out, then in held)


def test_a_product_takes_the_memory_of_its_first_factor_unless_its_dtype_differs():
    one, other = torch.ones(3), torch.full((3,), 2.0, dtype=torch.float64)
    with torch.no_grad():
        assert multiply(one, one.clone()) is one
        assert multiply(one, other).dtype == torch.float64
    assert multiply(one, one.clone()) is not one


@pytest.mark.parametrize("length", [1, 4])  # a step of decoding has a form of its own
def test_rotated_columns_have_their_gradients(length):
    x = torch.randn(2, 3, length, 10, dtype=torch.float64, requires_grad=True)
    angles = torch.randn(2, 1, length, 3, dtype=torch.float64)
    cos, sin = angles.cos(), angles.sin()
    turn = torch.complex(x[..., :3], x[..., 3:6]) * torch.complex(cos, sin)
    expected = torch.cat([turn.real, turn.imag, x[..., 6:]], dim=-1)
    torch.testing.assert_close(rotate_halves(x, cos, sin), expected)
    assert torch.autograd.gradcheck(rotate_halves, (x, cos, sin))
