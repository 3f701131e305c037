# a full sort cut after k columns, softmax written with logsumexp
def route(logits, k):
    ordered, experts = logits.sort(dim=-1, descending=True, stable=True)
    best, experts = ordered[:, :k], experts[:, :k]
    weights = torch.exp(best - torch.logsumexp(best, dim=-1, keepdim=True))
    return weights, experts
