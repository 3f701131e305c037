import torch


def permutation_masks(order):
    length = len(order)
    content = torch.zeros(length, length, dtype=torch.bool, device=order.device)
    query = content.clone()
    known = []
    for position in order.tolist():
        query[position, known] = True
        known.append(position)
        content[position, known] = True
    return content, query
