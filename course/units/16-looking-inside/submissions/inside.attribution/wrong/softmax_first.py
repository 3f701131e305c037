"""You compare probabilities. A part's own softmax says nothing about the sum of the parts; logits add up, probabilities do not."""


def direct_attribution(parts, unembed, target, rival):
    shares = (parts @ unembed.T).softmax(-1)
    pick = lambda ids: shares.gather(-1, ids.expand(len(parts), -1, -1).unsqueeze(-1)).squeeze(-1)
    return pick(target) - pick(rival)
