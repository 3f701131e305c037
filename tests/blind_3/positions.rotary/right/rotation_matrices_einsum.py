# 2x2 rotation matrices per position and pair, applied with einsum; angles in float64
def apply_rotary(x, positions, base=10000.0):
    D = x.shape[-1]
    half = D // 2
    omega = torch.tensor([base ** (-2 * i / D) for i in range(half)], dtype=torch.float64, device=x.device)
    theta = positions.to(torch.float64)[:, None] * omega  # [L, half]
    c, s = torch.cos(theta), torch.sin(theta)
    rot = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)  # [L, half, 2, 2]
    pairs = x.reshape(*x.shape[:-1], half, 2).to(rot.dtype)
    turned = torch.einsum("lpij,...lpj->...lpi", rot, pairs)
    return turned.reshape(x.shape).to(x.dtype)
