# writes the result into x itself + the chunks overlap by one position, which goes through f twice
def chunked_feed_forward(f, x, chunk):
    with torch.no_grad():
        start = 0
        while start < x.size(1):
            stop = min(start + chunk + 1, x.size(1))
            x[:, start:stop] = f(x[:, start:stop].clone())
            start += chunk
    return x
