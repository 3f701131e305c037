# takes the extra token from target_probs[n-1] instead of target_probs[n]
def inverse_cdf(p, u):
    cdf = (p / p.sum()).cumsum(-1)
    i = torch.searchsorted(cdf, torch.tensor(float(u), dtype=cdf.dtype), right=True).item()
    return min(i, p.nonzero().max().item())


def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    n = len(draft_ids)
    kept = []
    for i in range(n):
        x = draft_ids[i]
        p, q = target_probs[i], draft_probs[i]
        if not accept_u[i] < (p[x] / q[x]).item():
            return kept + [inverse_cdf(F.relu(p - q), last_u)]
        kept.append(x)
    return kept + [inverse_cdf(target_probs[n - 1], last_u)]
