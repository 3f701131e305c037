# every position sees itself, not only where it sees no other key
def lsh_attention(qk, v, buckets):
    L = qk.shape[1]
    same = buckets[:, :, None] == buckets[:, None, :]
    causal = torch.ones(L, L, dtype=torch.bool, device=qk.device).tril()
    out, _ = scaled_dot_product_attention(qk, F.normalize(qk, dim=-1), v, same & causal)
    return out
