# softmax over the batch axis instead of the source positions + mask read as True = padding
def attend(query, keys, mask):
    s = torch.matmul(keys, query[:, :, None])[:, :, 0]
    s = torch.where(mask, torch.tensor(-1e9, dtype=s.dtype), s)
    w = nn.Softmax(dim=0)(s)
    ctx = (w.unsqueeze(-1) * keys).sum(dim=1)
    return ctx, w
