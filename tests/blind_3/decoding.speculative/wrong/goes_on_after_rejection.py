# after a rejection the later draft tokens are still tested and kept instead of dropped
def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    def draw(probs):
        acc = 0.0
        probs = probs / probs.sum()
        for w in range(len(probs)):
            acc += probs[w].item()
            if acc > last_u:
                return w
        return int(probs.nonzero()[-1])

    tokens = []
    for i, tok in enumerate(draft_ids):
        p, q = target_probs[i], draft_probs[i]
        if accept_u[i] < (p[tok] / q[tok]).item():
            tokens.append(tok)
        else:
            tokens.append(draw(torch.clamp(p - q, min=0)))
    if tokens == list(draft_ids):      # all accepted: one token for free
        tokens.append(draw(target_probs[-1]))
    return tokens
