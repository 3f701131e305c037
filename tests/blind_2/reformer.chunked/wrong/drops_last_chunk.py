# the last, shorter chunk is forgotten when the length is not a multiple
def chunked_feed_forward(f, x, chunk):
    n = x.shape[1] // chunk
    outs = []
    for i in range(n):
        outs.append(f(x[:, i * chunk:(i + 1) * chunk]))
    if not outs:
        return f(x)
    return torch.cat(outs, dim=1)
