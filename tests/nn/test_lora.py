"""LoRA: the model that it starts from, what learns, and that merging changes no answer."""

import copy

import pytest
import torch
from torch import nn

from tfkit.nn.lora import LoRALinear


@pytest.mark.parametrize("bias", [True, False])
def test_an_adapter_starts_as_its_base_and_learns_alone(bias):
    torch.manual_seed(0)
    base, x = nn.Linear(5, 3, bias), torch.randn(4, 5, requires_grad=True)
    layer = LoRALinear(copy.deepcopy(base), rank=2, alpha=4.0)
    assert torch.equal(layer(x), base(x))

    nn.init.normal_(layer.b)
    layer(x).square().sum().backward()
    assert all(parameter.grad is None for parameter in layer.base.parameters())
    assert layer.a.grad.any() and layer.b.grad.any() and x.grad.any()


def test_the_merged_weight_does_the_same():
    torch.manual_seed(0)
    layer = LoRALinear(nn.Linear(5, 3).double(), rank=2, alpha=4.0)
    nn.init.normal_(layer.b)
    x = torch.randn(4, 5, dtype=torch.float64)
    kept = copy.deepcopy(layer.state_dict())
    merged = nn.functional.linear(x, layer.merged(), layer.base.bias)
    torch.testing.assert_close(merged, layer(x), rtol=1e-12, atol=1e-12)
    assert all(torch.equal(value, kept[name]) for name, value in layer.state_dict().items())
