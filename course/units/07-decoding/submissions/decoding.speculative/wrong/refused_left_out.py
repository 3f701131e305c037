"""You leave out a rejected draft token but go on with the next ones, which the draft chose after it.

All draft tokens after the first rejection have to be dropped.
"""


def drawn(weights, u):
    shares = weights.double() / weights.double().sum()
    return int((shares.cumsum(-1) <= u).sum().clamp(max=len(weights) - 1))


def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    kept = [t for i, t in enumerate(draft_ids) if accept_u[i] < (target_probs[i, t] / draft_probs[i, t]).item()]
    return kept + [drawn(target_probs[-1], last_u)]
