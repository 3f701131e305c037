# splits the width E instead of the positions
def chunked_feed_forward(f, x, chunk):
    parts = x.split(chunk, dim=-1)
    results = []
    for part in parts:
        results.append(f(part))
    return torch.cat(results, dim=-1)
