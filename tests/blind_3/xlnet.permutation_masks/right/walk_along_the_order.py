# walks along the order and writes row after row, with the set of positions already predicted
def permutation_masks(order):
    L = len(order)
    query = torch.zeros(L, L, dtype=torch.bool)
    content = torch.zeros(L, L, dtype=torch.bool)
    done = []
    for pos in order.tolist():
        for other in done:
            query[pos, other] = True
            content[pos, other] = True
        content[pos, pos] = True
        done.append(pos)
    return content, query
