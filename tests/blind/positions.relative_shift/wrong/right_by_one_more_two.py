# moves the rows to the right instead of left + moves by Q-i, one too many
def relative_shift(scores):
    out = torch.zeros_like(scores)
    n_q, n_r = scores.shape[-2:]
    for i in range(n_q):
        s = n_q - i
        out[..., i, s:] = scores[..., i, :n_r - s]
    return out
