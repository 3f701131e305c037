# every position sees itself, also where it sees others
def lsh_attention(qk, v, buckets):
    L = qk.shape[1]
    k = F.normalize(qk, dim=-1)
    same = buckets.unsqueeze(2) == buckets.unsqueeze(1)
    mask = same & torch.ones(L, L, dtype=torch.bool, device=qk.device).tril()
    out, _ = scaled_dot_product_attention(qk, k, v, mask)
    return out
