# narrow and a while loop; a text without positions is one call
def chunked_feed_forward(f, x, chunk):
    length = x.size(1)
    if length == 0:
        return f(x)
    pieces, begin = [], 0
    while begin < length:
        size = min(chunk, length - begin)
        pieces.append(f(x.narrow(1, begin, size)))
        begin += size
    return torch.cat(pieces, dim=1)
