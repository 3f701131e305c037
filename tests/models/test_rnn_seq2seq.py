"""The cells that a compiled step of the recurrent decoder takes are torch's own, in operations known on a GPU."""

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from tfkit.models.rnn_seq2seq import CELL_FUNCTIONS

TORCHS = {"rnn": nn.RNNCell, "gru": nn.GRUCell, "lstm": nn.LSTMCell}
GATES = {"rnn": 1, "gru": 3, "lstm": 4}


@pytest.mark.parametrize("kind", CELL_FUNCTIONS)
def test_a_cell_is_torchs(kind):
    torch.manual_seed(0)
    cell, x = TORCHS[kind](5, 4).double(), torch.randn(3, 5).double()
    state = tuple(torch.randn(3, 4).double() for _ in range(2 if kind == "lstm" else 1))
    expected = cell(x, state if kind == "lstm" else state[0])
    weights = (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
    found = CELL_FUNCTIONS[kind](x, state, *weights)
    torch.testing.assert_close(tuple(found), expected if kind == "lstm" else (expected,))


@pytest.mark.parametrize("kind", CELL_FUNCTIONS)
def test_a_compiler_knows_each_operation_of_a_cell_on_a_gpu(kind):
    """Without a card: tensors without values, on which an operation whose shapes are unknown is an error. torch's own
    GRU cell is one."""
    with FakeTensorMode(allow_fallback_kernels=False):
        x, state = torch.empty(3, 5, device="cuda"), (torch.empty(3, 4, device="cuda"),) * (2 if kind == "lstm" else 1)
        rows = 4 * GATES[kind]
        weights = [torch.empty(rows, *size, device="cuda") for size in ((5,), (4,), (), ())]
        found = CELL_FUNCTIONS[kind](x, state, *weights)
        assert all(part.shape == (3, 4) and part.device.type == "cuda" for part in found)
