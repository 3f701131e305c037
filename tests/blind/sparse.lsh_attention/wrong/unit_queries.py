# scales the queries to length one as well as the keys
def lsh_attention(qk, v, buckets):
    B, L, D = qk.shape
    x = qk / qk.norm(dim=-1, keepdim=True).clamp(min=1e-12)
    mask = torch.zeros(B, L, L, dtype=torch.bool, device=qk.device)
    for i in range(L):
        mask[:, i, :i] = buckets[:, :i] == buckets[:, i:i + 1]
        mask[:, i, i] = ~mask[:, i, :i].any(dim=-1)
    return scaled_dot_product_attention(x, x, v, mask)[0]
