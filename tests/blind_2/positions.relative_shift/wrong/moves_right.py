# the rows are rolled to the right instead of to the left
def relative_shift(scores):
    Q = scores.shape[2]
    out = torch.empty_like(scores)
    for i in range(Q):
        out[:, :, i] = torch.roll(scores[:, :, i], shifts=Q - 1 - i, dims=-1)
    return out
