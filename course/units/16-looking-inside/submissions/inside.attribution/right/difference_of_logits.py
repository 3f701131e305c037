def direct_attribution(parts, unembed, target, rival):
    logits = parts @ unembed.T  # [C,B,L,V]
    count = len(parts)
    pick = lambda ids: logits.gather(-1, ids.expand(count, -1, -1).unsqueeze(-1)).squeeze(-1)
    return pick(target) - pick(rival)
