"""The Triton kernels for one row, by Triton's interpreter where there is no card, against the same in torch; and
compiled for cards that are not here.

In processes of their own: triton reads TRITON_INTERPRET once, when it is first imported.
"""

import os
import subprocess
import sys

import pytest
import torch

pytest.importorskip("triton", reason="triton is not installed: `make test-kernels` brings it (1 GB)")

PRELUDE = """
import torch, torch.nn.functional as F
from functools import partial
from tfkit.nn import triton_single_row
from tfkit.nn.triton_single_row import decode_attention, row_times_matrix, rows_per_program
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
    found = decode_attention(q, k, v, mask, 0.3)
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
torch.testing.assert_close(decode_attention(q, seen, seen, None, 0.3), attend(q, seen, seen, scale=0.3))
torch.library.opcheck(torch.ops.tfkit.decode_attention.default, (q, seen, seen, None, 0.3), test_utils=(
    "test_schema", "test_faketensor"))
"""

# Bytes of shared memory that a program may use: a T4, an A100, an RTX 30 or 40 (and A10, L4), an H100.
CARDS = {75: 65_536, 80: 166_912, 86: 101_376, 90: 232_448}

COMPILED = """
import sys, torch, triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from tfkit.nn import triton_single_row as kernels

NAMES = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}
POINTERS = {"mask": "*fp32", "parts": "*fp32", "maxima": "*fp32", "sums": "*fp32", "scale": "fp32"}

def shared_memory(kernel, capability, dtype, stages=1, **constants):
    pointers = {**dict.fromkeys(("q", "k", "v", "out"), f"*{NAMES[dtype]}"), **POINTERS}
    types = {name: "constexpr" if name in constants else pointers.get(name, "i32") for name in kernel.arg_names}
    aligned = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(kernel.arg_names) if types[name][0] == "*"}
    source = ASTSource(kernel, types, constants, aligned)
    options = {"num_warps": 4, "num_stages": stages}
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options).metadata.shared

def attention(capability, dtype, width, group):
    heads, tile = kernels.block_m(group), kernels.block_n(width)
    return shared_memory(kernels._attend_part, capability, dtype, HAS_MASK=True, HEADS=heads, TILE=tile, D=width)

capability, room = map(int, sys.argv[1:])
fitting = set()
for dtype, width, group in [
    (torch.float16, 128, 1), (torch.float16, 256, 8), (torch.float32, 64, 1), (torch.float32, 256, 1),
    (torch.float16, 64, 32),
]:
    used, said = attention(capability, dtype, width, group), kernels.shared_memory_needed(width, group, dtype)
    assert used <= said, (dtype, width, group, used, said)
    if said <= room:
        fitting.add((NAMES[dtype], width))
assert ("fp32", 256) in fitting or capability == 75
assert fitting >= {("fp16", 128), ("fp16", 256), ("fp16", 64), ("fp32", 64)}, fitting
merging = shared_memory(kernels._merge_parts, capability, torch.float32, 3, SPLITS=256, D=256)
assert merging <= 48 * 1024, merging
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("capability", CARDS)
def test_compiled_attention_has_room_on_each_card(capability, tmp_path):
    asked = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    asked["TRITON_CACHE_DIR"] = str(tmp_path)
    command = [sys.executable, "-c", COMPILED, str(capability), str(CARDS[capability])]
    done = subprocess.run(command, env=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


FITS = """
from types import SimpleNamespace

def has_room(width, group, dtype, **properties):
    torch.cuda.get_device_properties = lambda device: SimpleNamespace(**properties)
    queries, keys = ((1, n, 1, width) for n in (2 * group, 2))
    q, k = (torch.empty(shape, dtype=dtype, device="meta") for shape in (queries, keys))
    return triton_single_row.has_shared_memory_for(q, k)

t4 = {"shared_memory_per_block": 49_152, "shared_memory_per_block_optin": 65_536}
assert has_room(256, 8, torch.float16, **t4)
assert not has_room(128, 1, torch.float32, **t4)
assert not has_room(128, 1, torch.float32)  # nothing is told: what every card has
assert has_room(128, 1, torch.float32, shared_memory_per_block=100_000)
assert not has_room(64, 64, torch.float16, shared_memory_per_block_optin=232_448)  # a large group
q = drawn(1, 2, 1, 256)
assert device == "cuda" or triton_single_row.has_shared_memory_for(q, q)
"""


@pytest.mark.gpu
@pytest.mark.parametrize("code", [PRODUCT, ATTENTION, FITS], ids=["product", "attention", "fits"])
def test_the_kernels_give_what_torch_gives_where_they_fit(code):
    asked = dict(os.environ) if torch.cuda.is_available() else {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code], env=asked, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
