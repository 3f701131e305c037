# looks at i - period (the same symbol) instead of the one after it
def induction_scores(weights, period):
    L = weights.shape[-1]
    i = torch.tensor([n for n in range(L) if n >= period], dtype=torch.long, device=weights.device)
    if len(i) == 0:
        return torch.zeros_like(weights[0, :, 0, 0])
    picked = weights[:, :, i, i - period]
    return picked.mean(dim=(0, 2))
