"""The forward pass of FlashAttention as a Triton kernel: `fast.flash_attention` for one tile of queries at a time.

Needs triton (the extra `kernels`). Without a GPU Triton's interpreter runs it, slowly, on the CPU: set the environment
variable TRITON_INTERPRET=1 before this module is imported.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _forward(q, k, v, out, lse, Q, K, scale, causal: tl.constexpr, TILE: tl.constexpr, D: tl.constexpr):
    # the queries of this program: one tile of one head
    head, columns = tl.program_id(1), tl.arange(0, D)
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    at = (head * Q + rows)[:, None] * D + columns
    queries = tl.load(q + at, mask=rows[:, None] < Q, other=0.0).to(tl.float32)
    top = tl.full((TILE,), float("-inf"), tl.float32)
    total = tl.zeros((TILE,), tl.float32)
    output = tl.zeros((TILE, D), tl.float32)
    for start in range(0, K, TILE):
        places = start + tl.arange(0, TILE)
        there = (head * K + places)[:, None] * D + columns
        keys = tl.load(k + there, mask=places[:, None] < K, other=0.0).to(tl.float32)
        values = tl.load(v + there, mask=places[:, None] < K, other=0.0).to(tl.float32)
        scores = tl.dot(queries, tl.trans(keys), input_precision="ieee") * scale
        seen = places[None, :] < K
        if causal:
            seen = seen & (places[None, :] <= rows[:, None] + K - Q)
        scores = tl.where(seen, scores, float("-inf"))
        new_top = tl.maximum(top, tl.max(scores, 1))
        weights, kept = tl.exp(scores - new_top[:, None]), tl.exp(top - new_top)
        total = kept * total + tl.sum(weights, 1)
        output = kept[:, None] * output + tl.dot(weights, values, input_precision="ieee")
        top = new_top
    tl.store(out + at, (output / total[:, None]).to(out.dtype.element_ty), mask=rows[:, None] < Q)
    tl.store(lse + head * Q + rows, top + tl.log(total), mask=rows < Q)


def triton_flash_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention by the kernel above, without gradients.

    q [B,H,Q,D], k and v [B,H,K,D], D one of 16, 32, 64, 128 -> (output [B,H,Q,D] in q's dtype, lse [B,H,Q] float32).
    causal: query i sees keys j <= i + K - Q. Raises ValueError for another D, and for values of another width;
    RuntimeError for tensors on the CPU if the interpreter is off, or was switched on too late.
    """
    if not q.is_cuda and isinstance(tl.max, triton.JITFunction):
        raise RuntimeError("set the environment variable TRITON_INTERPRET=1 before triton is first imported")
    width = q.size(-1)
    if width not in (16, 32, 64, 128) or v.size(-1) != width:
        raise ValueError(
            f"heads are {width} wide and values {v.size(-1)}: this kernel takes 16, 32, 64 or 128 for both"
        )
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    out, lse = torch.empty_like(q), q.new_empty(q.shape[:-1], dtype=torch.float32)
    tile = 32
    grid = (triton.cdiv(q.size(-2), tile), q.size(0) * q.size(1))
    _forward[grid](q, k, v, out, lse, q.size(-2), k.size(-2), width**-0.5, causal, tile, width)
    return out, lse
