# the first position of each bucket sees nothing and gets zeros, the fallback to itself is missing
def lsh_attention(qk, v, buckets):
    keys = qk / (qk ** 2).sum(-1, keepdim=True).sqrt()
    L = qk.shape[1]
    mask = torch.zeros(qk.shape[0], L, L, dtype=torch.bool, device=qk.device)
    for i in range(L):
        for j in range(i):
            mask[:, i, j] = buckets[:, i] == buckets[:, j]
    result, weights = scaled_dot_product_attention(qk, keys, v, mask)
    return result
