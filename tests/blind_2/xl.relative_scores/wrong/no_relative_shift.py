# the distance term is not shifted: columns are still distances, not keys
def relative_scores(q, k, r, u, v):
    d = q.size(-1)
    ac = (q + u[None, :, None, :]) @ k.transpose(-1, -2)
    bd = (q + v[None, :, None, :]) @ r.transpose(-1, -2).unsqueeze(0)
    return (ac + bd) / math.sqrt(d)
