# rotates in the other direction + the angles are repeated for neighbours (a a b b), not for halves (a b a b)
def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((x2, -x1), dim=-1)


def apply_rotary_halves(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2).float().to(x.device) / dim))
    freqs = torch.einsum("l,f->lf", positions.float(), inv_freq)
    emb = freqs.repeat_interleave(2, dim=-1)
    x32 = x.float()
    return (x32 * emb.cos() + rotate_half(x32) * emb.sin()).to(x.dtype)
