# accepts with q(x)/p(x) instead of p(x)/q(x)
def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    result = []
    rest = target_probs[-1]
    for x, q, p, u in zip(draft_ids, draft_probs, target_probs, accept_u):
        ratio = (q[x] / p[x]).clamp(max=1.0)
        if u < ratio:
            result.append(x)
        else:
            rest = F.relu(p - q)
            break
    rest = rest / rest.sum()
    result.append(int(torch.searchsorted(rest.cumsum(0), torch.tensor(float(last_u), dtype=rest.dtype), right=True)))
    return result
