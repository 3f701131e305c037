def drawn(weights, u):
    shares = weights.double() / weights.double().sum()
    return int((shares.cumsum(-1) <= u).sum().clamp(max=len(weights) - 1))


def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    for i, token in enumerate(draft_ids):
        p, q = target_probs[i], draft_probs[i]
        if accept_u[i] >= (p[token] / q[token]).item():
            return draft_ids[:i] + [drawn((p - q).clamp(min=0), last_u)]
    return draft_ids + [drawn(target_probs[-1], last_u)]
