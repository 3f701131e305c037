# even and odd places as two strided views, weights from the mask
def pool_sequence(x, mask):
    L = x.size(1)
    a, ma = x[:, 0::2], mask[:, 0::2]
    b, mb = x[:, 1::2], mask[:, 1::2]
    if L % 2:
        b = torch.cat([b, x.new_zeros(x.size(0), 1, x.size(2))], 1)
        mb = torch.cat([mb, mask.new_zeros(x.size(0), 1)], 1)
    zero = torch.zeros_like(a)
    total = torch.where(ma.unsqueeze(-1), a, zero) + torch.where(mb.unsqueeze(-1), b, zero)
    both = (ma & mb).unsqueeze(-1)
    return torch.where(both, total * 0.5, total), ma | mb
