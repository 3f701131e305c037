# adds the residual connection to f, the result is x + f(x)
def chunked_feed_forward(f, x, chunk):
    y = x.clone()
    for start in range(0, x.size(1), chunk):
        stop = min(start + chunk, x.size(1))
        y[:, start:stop] = y[:, start:stop] + f(x[:, start:stop])
    return y
