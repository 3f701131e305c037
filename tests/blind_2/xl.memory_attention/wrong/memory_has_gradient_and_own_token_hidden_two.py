# the memory is not detached + a new token does not see itself (with M = 0 the first row is empty)
def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    L, M = x.size(1), memory.size(1)
    both = torch.cat([memory, x], 1)
    mask = torch.ones(L, M + L, dtype=torch.bool).tril(diagonal=M - 1)
    o, _ = scaled_dot_product_attention(
        split_heads(x @ w_q, n_heads), split_heads(both @ w_k, n_heads), split_heads(both @ w_v, n_heads), mask
    )
    return merge_heads(o)
