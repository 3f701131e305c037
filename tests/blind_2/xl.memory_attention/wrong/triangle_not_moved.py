# the causal triangle starts in column 0, so the new tokens see only the first columns of the memory
def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    ctx = torch.cat([memory.detach(), x], dim=1)
    q = split_heads(x @ w_q, n_heads)
    k = split_heads(ctx @ w_k, n_heads)
    v = split_heads(ctx @ w_v, n_heads)
    L, K = x.size(1), ctx.size(1)
    mask = torch.tril(torch.ones(L, K)).bool()
    out, _ = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(out)
