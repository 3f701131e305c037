"""The Triton kernels for one row, by Triton's interpreter where there is no card, against the same in torch.

In a process of its own: triton reads TRITON_INTERPRET once, when it is first imported.
"""

import os
import subprocess
import sys

import pytest
import torch

pytest.importorskip("triton", reason="triton is not installed: pip install triton (1 GB)")

PRELUDE = """
import torch, torch.nn.functional as F
from functools import partial
from tfkit.nn import triton_single_row
from tfkit.nn.triton_single_row import attend_one_query, row_times_matrix, rows_per_program
from tfkit.nn.attention import attend

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
def drawn(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=device).to(dtype)
"""

PRODUCT = """
functions = {"none": lambda x: x, "relu": F.relu, "silu": F.silu, "gelu": F.gelu,
             "gelu_tanh": partial(F.gelu, approximate="tanh")}
for outputs, inputs, dtype in [(7, 40, torch.float32), (20, 600, torch.float32), (33, 512, torch.bfloat16)]:
    x, weight, bias, residual = (drawn(*s, dtype=dtype) for s in ((1, 1, inputs), (outputs, inputs), (outputs,),
                                                                   (1, 1, outputs)))
    near = {"atol": 1e-4, "rtol": 1e-4} if dtype == torch.float32 else {"atol": 2e-2, "rtol": 2e-2}
    for name, function in functions.items():
        expected = function(F.linear(x.double(), weight.double(), bias.double()))
        found = row_times_matrix(x, weight, bias, None, name)
        assert found.dtype == dtype
        torch.testing.assert_close(found.double(), expected, **near)
        found = row_times_matrix(x, weight, None, residual, name)
        expected = function(F.linear(x.double(), weight.double())) + residual.double()
        torch.testing.assert_close(found.double(), expected, **near)
part = drawn(20, 80)[:, :40]  # rows with a gap between them
x = drawn(1, 40)
torch.testing.assert_close(row_times_matrix(x, part, None, None, "none"), F.linear(x, part), atol=1e-5, rtol=1e-5)
for outputs, rows in ((192, 1), (1600, 8), (1056, 8), (1048, 4), (50257, 8)):
    assert rows_per_program(outputs) == rows, outputs
torch.library.opcheck(torch.ops.tfkit.row_times_matrix.default, (x, part, None, None, "silu"), test_utils=(
    "test_schema", "test_faketensor"))
"""

ATTENTION = """
def check(heads, groups, length, width, batch=1, mask=None, near=1e-5, dtype=torch.float32):
    q, k, v = (drawn(batch, n, m, width, dtype=dtype) for n, m in ((heads, 1), (groups, length), (groups, length)))
    found = attend_one_query(q, k, v, mask, 0.3)
    told = {} if mask is None else {"mask": mask} if mask.dtype == torch.bool else {"bias": mask}
    expected = attend(q, k, v, scale=0.3, **told)
    assert found.dtype == dtype and found.shape == expected.shape
    torch.testing.assert_close(found, expected, atol=near, rtol=near)
    return found

check(4, 4, 70, 16)  # neither a multiple of the tile
check(9, 3, 200, 16, batch=2)  # groups of three, and parts to merge
check(2, 1, 130, 32, near=2e-2, dtype=torch.bfloat16)
window = torch.arange(200, device=device) >= 150  # whole tiles are hidden
check(4, 2, 200, 16, mask=window[None, None, None])
check(4, 2, 90, 16, mask=drawn(1, 4, 1, 90))  # a bias that differs between heads
padding = (torch.arange(90, device=device) >= torch.tensor([[0], [80]], device=device))[:, None, None]
check(4, 2, 90, 16, batch=2, mask=padding)
nothing = torch.zeros(1, 1, 1, 90, dtype=torch.bool, device=device)
assert check(4, 2, 90, 16, mask=nothing).abs().max() == 0
buffer = drawn(1, 2, 128, 16)
q, seen = drawn(1, 2, 1, 16), buffer[:, :, :70]  # a view of a cache
torch.testing.assert_close(attend_one_query(q, seen, seen, None, 0.3), attend(q, seen, seen, scale=0.3))
torch.library.opcheck(torch.ops.tfkit.attend_one_query.default, (q, seen, seen, None, 0.3), test_utils=(
    "test_schema", "test_faketensor"))
"""


@pytest.mark.parametrize("code", [PRODUCT, ATTENTION], ids=["product", "attention"])
def test_the_kernels_give_what_torch_gives(code):
    asked = dict(os.environ) if torch.cuda.is_available() else {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code], env=asked, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
