# the own position stays visible at the lowest finite score, so it counts only where nothing else does
def lsh_attention(qk, v, buckets):
    length, width = qk.shape[-2:]
    keys = F.normalize(qk, dim=-1)
    scores = torch.einsum("bid,bjd->bij", qk, keys) / math.sqrt(width)
    position = torch.arange(length, device=qk.device)
    same = buckets[:, :, None] == buckets[:, None, :]
    own = position[:, None] == position[None, :]
    allowed = same & (position[None, :] <= position[:, None])
    scores = scores.masked_fill(own, torch.finfo(scores.dtype).min)
    scores = scores.masked_fill(~allowed, -math.inf)
    return torch.einsum("bij,bjd->bid", scores.softmax(dim=-1), v)
