"""What the agent in a box computes itself: the gradients that it answers."""

import subprocess
import sys

import pytest
import torch

from autograder.sandbox.inside.agent import vector_jacobian_products


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.complex64])
def test_products_with_the_jacobian_are_those_of_autograd(dtype):
    x, unused = torch.randn(3, 4, dtype=dtype, requires_grad=True), torch.ones(2, requires_grad=True)
    cotangents = [torch.randn(3, 4, dtype=dtype), torch.randn(4, 3, dtype=dtype)]

    def outputs():
        return [x * x, (x * 1e4).T]

    expected = torch.autograd.grad(outputs(), [x, unused], cotangents, allow_unused=True)
    found = vector_jacobian_products(list(zip(outputs(), cotangents, strict=True)), [x, unused])
    assert found[1] is expected[1] is None
    assert torch.equal(found[0], expected[0])


def test_a_gradient_does_not_import_sympy():
    code = (
        "import sys, torch; from autograder.sandbox.inside.agent import vector_jacobian_products; "
        "x = torch.ones(3, requires_grad=True); vector_jacobian_products([(x * x, torch.ones(3))], [x]); "
        "print('sympy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
