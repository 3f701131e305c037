# the new mask is true only where both of the pair are real
def pool_sequence(x, mask):
    B, L, E = x.shape
    half = (L + 1) // 2
    out = x.new_zeros(B, half, E)
    new_mask = torch.zeros(B, half, dtype=torch.bool, device=x.device)
    for i in range(half):
        pair = x[:, 2 * i:2 * i + 2]
        real = mask[:, 2 * i:2 * i + 2]
        total = torch.where(real[..., None], pair, torch.zeros_like(pair)).sum(dim=1)
        out[:, i] = total / real.sum(dim=1, keepdim=True).clamp(min=1)
        new_mask[:, i] = real.all(dim=1) if real.shape[1] == 2 else False
    return out, new_mask
