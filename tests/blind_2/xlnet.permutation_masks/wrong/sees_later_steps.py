# the comparison is the wrong way round: each position sees what comes later in the order
def permutation_masks(order):
    step = torch.empty_like(order)
    step[order] = torch.arange(len(order))
    query = step.unsqueeze(1) < step.unsqueeze(0)
    content = query | torch.eye(len(order), dtype=torch.bool)
    return content, query
