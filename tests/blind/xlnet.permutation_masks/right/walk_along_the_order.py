# walks along the order with a growing row of what has been seen
def permutation_masks(order):
    length = len(order)
    query = torch.zeros(length, length, dtype=torch.bool, device=order.device)
    seen = torch.zeros(length, dtype=torch.bool, device=order.device)
    for position in order.tolist():
        query[position] = seen
        seen = seen.clone()
        seen[position] = True
    content = query | torch.eye(length, dtype=torch.bool, device=order.device)
    return content, query
