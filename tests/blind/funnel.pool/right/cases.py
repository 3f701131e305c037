# no counting: even and odd members apart, and a where for each case
def pool_sequence(x, mask):
    if x.shape[1] % 2 == 1:
        x = torch.cat([x, torch.zeros_like(x[:, :1])], dim=1)
        mask = torch.cat([mask, torch.zeros_like(mask[:, :1])], dim=1)
    (a, b), (ma, mb) = (x[:, 0::2], x[:, 1::2]), (mask[:, 0::2], mask[:, 1::2])
    ra, rb = ma.unsqueeze(-1), mb.unsqueeze(-1)
    nothing = torch.zeros_like(a)
    a_or_0, b_or_0 = torch.where(ra, a, nothing), torch.where(rb, b, nothing)
    pooled = torch.where(ra & rb, torch.lerp(a_or_0, b_or_0, 0.5), a_or_0 + b_or_0)
    return pooled, ma | mb
