import torch
import torch.nn.functional as F


def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    batch, length, width = x.shape
    with torch.no_grad():
        known = memory.clone()
    both = torch.cat([known, x], dim=1)
    q = (x @ w_q).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = (both @ w_k).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = (both @ w_v).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    total = both.size(1)
    mask = torch.ones(total, total, dtype=torch.bool, device=x.device).tril()[-length:]
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return out.transpose(1, 2).reshape(batch, length, width)
