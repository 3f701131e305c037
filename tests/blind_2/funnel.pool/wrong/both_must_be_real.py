# the new mask is true only where both members are real
def pool_sequence(x, mask):
    outs, masks = [], []
    L = x.shape[1]
    for i in range(0, L, 2):
        m = mask[:, i:i + 2]
        xs = x[:, i:i + 2] * m.unsqueeze(-1)
        n = m.sum(1, keepdim=True).clamp(min=1)
        outs.append(xs.sum(1) / n)
        masks.append(m.all(1))
    return torch.stack(outs, 1), torch.stack(masks, 1)
