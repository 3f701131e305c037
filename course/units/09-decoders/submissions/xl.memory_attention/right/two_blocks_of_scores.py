import torch
from tfkit.nn import causal_mask, merge_heads, split_heads


def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    old = memory.detach()
    q = split_heads(x @ w_q, n_heads)
    to_old = q @ split_heads(old @ w_k, n_heads).mT
    to_new = q @ split_heads(x @ w_k, n_heads).mT
    to_new = to_new.where(causal_mask(x.size(1)).to(x.device), float("-inf"))
    weights = (torch.cat([to_old, to_new], -1) * q.size(-1) ** -0.5).softmax(-1)
    past, now = weights[..., : old.size(1)], weights[..., old.size(1) :]
    return merge_heads(past @ split_heads(old @ w_v, n_heads) + now @ split_heads(x @ w_v, n_heads))
