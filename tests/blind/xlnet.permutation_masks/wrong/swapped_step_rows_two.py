# returns (query, content) + row t is step t, not position t
def permutation_masks(order):
    rank = torch.argsort(order)
    L = len(order)
    steps = torch.arange(L)
    content = rank.unsqueeze(0) <= steps.unsqueeze(1)
    query = rank.unsqueeze(0) < steps.unsqueeze(1)
    return query, content
