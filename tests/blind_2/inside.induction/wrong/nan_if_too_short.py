# NaN (or an error) instead of 0 where no i exists (period >= L)
def induction_scores(weights, period):
    L = weights.size(2)
    queries = torch.arange(period, L, device=weights.device)
    vals = weights[..., queries, queries - period + 1]
    return vals.permute(1, 0, 2).flatten(1).mean(1)
