# sees later positions of its bucket, too + the queries are scaled to length one as well as the keys
def lsh_attention(qk, v, buckets):
    unit = F.normalize(qk, dim=-1)
    L = unit.shape[1]
    eye = torch.eye(L, dtype=torch.bool)[None]
    same = buckets[:, :, None].eq(buckets[:, None, :])
    others = same & ~eye
    nobody = ~others.any(dim=2, keepdim=True)
    mask = others | (nobody & eye)
    out, weights = scaled_dot_product_attention(unit, unit, v, mask)
    return out
