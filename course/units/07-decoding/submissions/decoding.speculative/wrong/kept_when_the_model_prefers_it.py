"""You keep a guess only where the model finds it likelier than the draft did; the draw decides nothing.

What is a little less likely is to be kept often, not never."""


def drawn(weights, u):
    shares = weights.double() / weights.double().sum()
    return int((shares.cumsum(-1) <= u).sum().clamp(max=len(weights) - 1))


def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    for i, token in enumerate(draft_ids):
        p, q = target_probs[i], draft_probs[i]
        if p[token] < q[token]:
            return draft_ids[:i] + [drawn((p - q).clamp(min=0), last_u)]
    return draft_ids + [drawn(target_probs[-1], last_u)]
