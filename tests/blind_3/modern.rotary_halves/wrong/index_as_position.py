# rotates by the index in the tensor, the argument positions is only used for its length
def apply_rotary_halves(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    inv_freq = 1.0 / (base ** (torch.arange(half, device=x.device).float() / half))
    t = torch.arange(len(positions), device=x.device).float()
    freqs = torch.einsum("i,j->ij", t, inv_freq)
    emb = torch.cat((freqs, freqs), dim=-1)
    y = x.float() if x.dtype != torch.float64 else x

    def rotate_half(z):
        return torch.cat((-z[..., half:], z[..., :half]), dim=-1)

    return (y * emb.cos() + rotate_half(y) * emb.sin()).to(x.dtype)
