# style: a while loop with narrow, the pieces joined at the end
def chunked_feed_forward(f, x, chunk):
    done, total = 0, x.size(1)
    if total == 0:
        return f(x)
    pieces = []
    while done < total:
        n = min(chunk, total - done)
        pieces.append(f(x.narrow(1, done, n)))
        done += n
    return torch.cat(pieces, dim=-2)
