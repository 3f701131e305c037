# the diagonal stays in the mask: every position attends to itself as well
def lsh_attention(qk, v, buckets):
    L = qk.shape[1]
    same = buckets.unsqueeze(2) == buckets.unsqueeze(1)
    causal = torch.ones(L, L, dtype=torch.bool).tril()
    out, _ = scaled_dot_product_attention(qk, F.normalize(qk, dim=-1), v, same & causal)
    return out
