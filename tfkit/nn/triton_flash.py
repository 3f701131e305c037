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
    query_offsets = (head * Q + rows)[:, None] * D + columns
    queries = tl.load(q + query_offsets, mask=rows[:, None] < Q, other=0.0).to(tl.float32)
    running_max = tl.full((TILE,), float("-inf"), tl.float32)
    denominator = tl.zeros((TILE,), tl.float32)
    output = tl.zeros((TILE, D), tl.float32)
    for start in range(0, K, TILE):
        key_positions = start + tl.arange(0, TILE)
        offsets = (head * K + key_positions)[:, None] * D + columns
        keys = tl.load(k + offsets, mask=key_positions[:, None] < K, other=0.0).to(tl.float32)
        values = tl.load(v + offsets, mask=key_positions[:, None] < K, other=0.0).to(tl.float32)
        scores = tl.dot(queries, tl.trans(keys), input_precision="ieee") * scale
        visible = key_positions[None, :] < K
        if causal:
            visible = visible & (key_positions[None, :] <= rows[:, None] + K - Q)
        scores = tl.where(visible, scores, float("-inf"))
        new_max = tl.maximum(running_max, tl.max(scores, 1))
        weights, rescale = tl.exp(scores - new_max[:, None]), tl.exp(running_max - new_max)
        denominator = rescale * denominator + tl.sum(weights, 1)
        output = rescale[:, None] * output + tl.dot(weights, values, input_precision="ieee")
        running_max = new_max
    tl.store(out + query_offsets, (output / denominator[:, None]).to(out.dtype.element_ty), mask=rows[:, None] < Q)
    tl.store(lse + head * Q + rows, running_max + tl.log(denominator), mask=rows < Q)


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
