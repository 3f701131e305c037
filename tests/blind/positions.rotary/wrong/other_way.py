# rotates in the opposite direction (multiplies by exp(-i angle))
def apply_rotary(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, dtype=torch.float32, device=x.device) / d)
    angles = positions.float().unsqueeze(-1) * freqs
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], d // 2, 2).contiguous())
    z = z * torch.exp(torch.complex(torch.zeros_like(angles), -angles))
    return torch.view_as_real(z).reshape(x.shape).to(x.dtype)
