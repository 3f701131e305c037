def drawn(weights, u):
    goal, total, last = u * sum(weights), 0.0, None
    for token, weight in enumerate(weights):
        if weight > 0:
            total, last = total + weight, token
            if total > goal:
                return token
    return last


def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    kept = []
    drafts, targets = draft_probs.double().tolist(), target_probs.double().tolist()
    for token, q, p, u in zip(draft_ids, drafts, targets, accept_u):
        if u * q[token] >= p[token]:
            return kept + [drawn([max(a - b, 0.0) for a, b in zip(p, q)], last_u)]
        kept.append(token)
    return kept + [drawn(targets[len(draft_ids)], last_u)]
