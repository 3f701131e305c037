# style: all heads but one set to zero in the concatenation, then the whole projection
def head_contributions(weights, v, w_o):
    B, H, Q, K = weights.shape
    D = v.shape[-1]
    z = torch.matmul(weights, v).permute(0, 2, 1, 3)      # [B,Q,H,D]
    parts = []
    for h in range(H):
        only = torch.zeros_like(z)
        only[:, :, h] = z[:, :, h]
        parts.append(F.linear(only.reshape(B, Q, H * D), w_o))
    return torch.stack(parts, dim=1)
