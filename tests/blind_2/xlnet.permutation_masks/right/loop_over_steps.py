# walks through the order with python sets of seen positions
def permutation_masks(order):
    z = order.tolist()
    L = len(z)
    content = torch.zeros(L, L, dtype=torch.bool)
    query = torch.zeros_like(content)
    seen = []
    for pos in z:
        for s in seen:
            query[pos, s] = True
            content[pos, s] = True
        content[pos, pos] = True
        seen.append(pos)
    return content.to(order.device), query.to(order.device)
