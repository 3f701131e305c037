# does not stop at the first rejection: replaces the token and goes on with the later draft tokens
def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    def draw(p):
        p = p / p.sum()
        acc = 0.0
        chosen = 0
        for w in range(len(p)):
            if p[w] <= 0:
                continue
            chosen = w
            acc = acc + float(p[w])
            if acc > last_u:
                break
        return chosen

    out = []
    for x, q, p, u in zip(draft_ids, draft_probs, target_probs, accept_u):
        accepted = u < float(p[x]) / float(q[x])
        if accepted:
            out.append(x)
        else:
            out.append(draw(torch.maximum(p - q, torch.zeros_like(p))))
    out.append(draw(target_probs[len(draft_ids)]))
    return out
