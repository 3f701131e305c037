# pairs column i with column i + d/2, as in the Hugging Face code
def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary(x, positions, base=10000.0):
    d = x.shape[-1]
    inv_freq = 1.0 / (base ** (torch.arange(0, d, 2, device=x.device).float() / d))
    freqs = torch.outer(positions.to(x.device).float(), inv_freq)
    emb = torch.cat((freqs, freqs), dim=-1)
    return (x * emb.cos() + rotate_half(x) * emb.sin()).to(x.dtype)
