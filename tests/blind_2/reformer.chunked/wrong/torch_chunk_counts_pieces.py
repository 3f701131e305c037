# torch.chunk takes the number of pieces, not the number of positions in a piece
def chunked_feed_forward(f, x, chunk):
    return torch.cat([f(piece) for piece in torch.chunk(x, chunk, dim=1)], dim=1)
