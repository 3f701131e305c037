# draws the replacement from the target distribution itself, not from max(p - q, 0)
def pick(probs, u):
    c = 0.0
    probs = probs.tolist()
    total = sum(probs)
    best = 0
    for i, w in enumerate(probs):
        if w > 0:
            best = i
            c += w / total
            if u < c:
                return i
    return best


def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    result = []
    for i, token in enumerate(draft_ids):
        ratio = target_probs[i, token] / draft_probs[i, token]
        if accept_u[i] < ratio:
            result.append(token)
        else:
            result.append(pick(target_probs[i], last_u))
            return result
    result.append(pick(target_probs[-1], last_u))
    return result
