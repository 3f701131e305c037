# plain Python floats, with a hand written walk along the line from 0 to 1
def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    def walk(weights, u):
        total = sum(weights)
        reached, last_possible = 0.0, None
        for word, w in enumerate(weights):
            if w <= 0:
                continue
            last_possible = word
            reached += w / total
            if reached > u:
                return word
        return last_possible    # only rounding brings us here

    u_end = float(last_u)
    kept = []
    for i, x in enumerate(draft_ids):
        x = int(x)
        p, q = target_probs[i].tolist(), draft_probs[i].tolist()
        if float(accept_u[i]) * q[x] < p[x]:
            kept.append(x)
            continue
        left_over = [max(a - b, 0.0) for a, b in zip(p, q)]
        return kept + [walk(left_over, u_end)]
    return kept + [walk(target_probs[len(draft_ids)].tolist(), u_end)]
