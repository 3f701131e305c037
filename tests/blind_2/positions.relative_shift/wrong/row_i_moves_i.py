# row i moves left by i: the first row stays and the last one moves most (upside down)
def relative_shift(scores):
    rows = []
    n = scores.size(-2)
    for i in range(n):
        r = scores[..., i, :]
        rows.append(torch.cat([r[..., i:], r[..., :i]], dim=-1))
    return torch.stack(rows, dim=-2)
