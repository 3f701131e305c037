# difference of the softmax probabilities instead of the logits
def direct_attribution(parts, unembed, target, rival):
    logits = parts @ unembed.T
    p = logits.softmax(-1)
    C = parts.shape[0]
    t = target.expand(C, *target.shape).unsqueeze(-1)
    r = rival.expand(C, *rival.shape).unsqueeze(-1)
    return (p.gather(-1, t) - p.gather(-1, r)).squeeze(-1)
