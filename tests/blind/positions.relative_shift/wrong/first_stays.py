# row i moves left by i: the first not at all, the last the most
def relative_shift(scores):
    Q = scores.shape[2]
    rows = []
    for i in range(Q):
        rows.append(torch.roll(scores[:, :, i], -i, dims=-1))
    return torch.stack(rows, dim=2)
