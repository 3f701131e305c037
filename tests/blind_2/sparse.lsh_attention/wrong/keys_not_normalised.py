# the keys are not scaled to length one
def lsh_attention(qk, v, buckets):
    L = qk.size(1)
    pos = torch.arange(L)
    earlier = pos[None, :] < pos[:, None]
    mask = earlier & (buckets[:, :, None] == buckets[:, None, :])
    lonely = mask.sum(-1) == 0
    mask = mask | (lonely[..., None] & torch.eye(L, dtype=torch.bool))
    return scaled_dot_product_attention(qk, qk, v, mask)[0]
