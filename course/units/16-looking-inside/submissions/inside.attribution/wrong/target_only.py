"""You measure the target's logit alone. What raises all words alike would count, and it changes no prediction: subtract the rival's."""


def direct_attribution(parts, unembed, target, rival):
    return (parts * unembed[target]).sum(-1)
