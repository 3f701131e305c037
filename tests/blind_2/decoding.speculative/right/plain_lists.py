# style: Python lists and floats, a small walker that draws from unnormalised weights
def _walk(weights, u):
    goal = u * math.fsum(weights)
    here = 0.0
    for word, w in enumerate(weights):
        here += w
        if here > goal:
            return word
    return max(w for w in range(len(weights)) if weights[w] > 0)    # rounding at the very end


def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    q_rows = draft_probs.double().tolist()
    p_rows = target_probs.double().tolist()
    out = []
    for x, q, p, u in zip(draft_ids, q_rows, p_rows, accept_u):
        if float(u) * q[x] < p[x]:
            out.append(int(x))
        else:
            left = [max(a - b, 0.0) for a, b in zip(p, q)]
            if not any(left):
                left = p
            return out + [_walk(left, float(last_u))]
    return out + [_walk(p_rows[len(draft_ids)], float(last_u))]
