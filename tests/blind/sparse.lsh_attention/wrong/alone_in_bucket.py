# lets a position see itself only if its bucket has no other member at all; the first of a bucket sees nothing
def lsh_attention(qk, v, buckets):
    n = qk.size(1)
    eye = torch.eye(n, dtype=torch.bool, device=qk.device)
    same_bucket = buckets[:, :, None] == buckets[:, None, :]
    others = same_bucket & ~eye
    alone = ~others.any(-1, keepdim=True)
    idx = torch.arange(n, device=qk.device)
    earlier = idx[None, :] < idx[:, None]
    mask = (others & earlier) | (alone & eye)
    keys = qk / (qk.pow(2).sum(-1, keepdim=True).sqrt() + 1e-12)
    return scaled_dot_product_attention(qk, keys, v, mask)[0]
