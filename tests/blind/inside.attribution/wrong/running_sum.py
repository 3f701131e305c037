# gives the stream up to each part (running sum, as in the logit lens) instead of the part alone
def direct_attribution(parts, unembed, target, rival):
    stream = parts.cumsum(dim=0)
    logits = stream @ unembed.T                                     # [C,B,L,V]
    C = parts.shape[0]
    t = target.expand(C, *target.shape).unsqueeze(-1)
    r = rival.expand(C, *rival.shape).unsqueeze(-1)
    return (logits.gather(-1, t) - logits.gather(-1, r)).squeeze(-1)
