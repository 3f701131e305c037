import torch


def sinusoidal_positions(length, dim):
    angle = 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    step, hand = torch.polar(torch.ones_like(angle), angle), torch.ones(dim // 2, dtype=torch.complex128)
    rows = []
    for _ in range(length):
        rows.append(torch.stack([hand.imag, hand.real], dim=-1).flatten())
        hand = hand * step
    return torch.stack(rows).to(torch.get_default_dtype())
