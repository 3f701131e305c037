"""In place of a refused guess you draw from the row behind it, which is about the word after next."""


def drawn(weights, u):
    shares = weights.double() / weights.double().sum()
    return int((shares.cumsum(-1) <= u).sum().clamp(max=len(weights) - 1))


def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    for i, token in enumerate(draft_ids):
        p, q = target_probs[i], draft_probs[i]
        if accept_u[i] >= (p[token] / q[token]).item():
            return draft_ids[:i] + [drawn(target_probs[i + 1], last_u)]
    return draft_ids + [drawn(target_probs[-1], last_u)]
