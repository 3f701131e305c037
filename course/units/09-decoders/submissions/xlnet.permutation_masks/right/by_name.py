import torch


def permutation_masks(order):
    step = {position: t for t, position in enumerate(order.tolist())}
    places = range(len(step))
    query = torch.tensor([[step[j] < step[i] for j in places] for i in places])
    content = torch.tensor([[step[j] <= step[i] for j in places] for i in places])
    return content.to(order.device), query.to(order.device)
