"""The Triton kernel, by its interpreter where there is no card, against the same attention in torch.

In a process of its own: triton reads TRITON_INTERPRET once, when it is first imported.
"""

import os
import subprocess
import sys

import pytest
import torch

pytest.importorskip("triton", reason="triton is not installed: `make test-kernels` brings it (1 GB)")

COMPARE = """
import torch
from tfkit.nn.fast import flash_attention
from tfkit.nn.triton_flash import triton_flash_attention

device = "cuda" if torch.cuda.is_available() else "cpu"
for queries, keys, width, causal, dtype in [
    (40, 70, 16, True, torch.float32),  # neither is a multiple of the tile
    (33, 33, 32, False, torch.float32),
    (20, 40, 16, True, torch.bfloat16),
]:
    q, k, v = (torch.randn(2, 2, n, width, device=device).to(dtype) for n in (queries, keys, keys))
    output, lse = triton_flash_attention(q, k, v, causal)
    expected, sums = flash_attention(q.float(), k.float(), v.float(), 16, causal)
    assert output.dtype == dtype
    torch.testing.assert_close(output.float(), expected, atol=1e-2 if dtype == torch.bfloat16 else 1e-5, rtol=1e-2)
    torch.testing.assert_close(lse, sums, atol=1e-4, rtol=1e-4)
try:
    triton_flash_attention(*(torch.randn(1, 1, 4, 5, device=device) for _ in range(3)))
except ValueError as error:
    assert "5 wide" in str(error)
else:
    raise AssertionError("heads of width 5 were taken")
"""


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a card, and no interpreter is needed")
def test_the_interpreter_asked_for_too_late_is_said():
    given = "*[torch.randn(1, 1, 4, 16)] * 3"
    code = f"import torch; from tfkit.nn.triton_flash import triton_flash_attention as f; f({given})"
    asked = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run([sys.executable, "-c", code], env=asked, capture_output=True, text=True, check=False)
    assert "set the environment variable TRITON_INTERPRET=1" in done.stderr


@pytest.mark.gpu
def test_the_kernel_is_the_attention_in_blocks():
    asked = dict(os.environ) if torch.cuda.is_available() else {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run([sys.executable, "-c", COMPARE], env=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
