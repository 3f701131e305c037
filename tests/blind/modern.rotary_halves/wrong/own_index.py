# uses 0 … L-1 instead of the given positions
class _Rotary:
    def __init__(self, dim, base):
        self.inv_freq = 1.0 / base ** (torch.arange(0, dim, 2, dtype=torch.float32) / dim)

    def tables(self, seq_len, device):
        t = torch.arange(seq_len, device=device, dtype=torch.float32)
        freqs = torch.einsum("i,j->ij", t, self.inv_freq.to(device))
        emb = torch.cat([freqs, freqs], dim=-1)
        return emb.cos(), emb.sin()


def apply_rotary_halves(x, positions, base=10000.0):
    cos, sin = _Rotary(x.shape[-1], base).tables(x.shape[-2], x.device)
    h = x.shape[-1] // 2
    rotated = torch.cat([-x[..., h:], x[..., :h]], dim=-1)
    return (x * cos + rotated * sin).to(x.dtype)
