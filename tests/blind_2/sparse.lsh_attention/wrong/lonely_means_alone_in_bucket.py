# a position sees itself only if it is alone in its whole bucket, so the first one of a bucket sees nothing and gets zeros
def lsh_attention(qk, v, buckets):
    B, L, D = qk.shape
    k = qk / qk.norm(dim=-1, keepdim=True)
    same = (buckets[:, :, None] == buckets[:, None, :])
    alone = same.sum(dim=-1) == 1
    allowed = torch.tril(same, diagonal=-1)
    allowed = allowed | torch.diag_embed(alone)
    scores = torch.einsum("bid,bjd->bij", qk, k) / D**0.5
    scores = scores.masked_fill(~allowed, float("-inf"))
    w = scores.softmax(-1)
    w = torch.where(allowed.any(-1, keepdim=True), w, torch.zeros_like(w))
    return w @ v
