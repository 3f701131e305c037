import torch


def route(logits, k):
    left, values, places = logits, [], []
    for _ in range(k):
        place = left.argmax(-1, keepdim=True)
        values.append(logits.gather(-1, place))
        places.append(place)
        left = left.scatter(-1, place, float("-inf"))
    return torch.cat(values, -1).softmax(-1), torch.cat(places, -1)
