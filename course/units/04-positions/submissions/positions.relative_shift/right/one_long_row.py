import torch.nn.functional as F


def relative_shift(scores):
    b, h, q, r = scores.shape
    flat = F.pad(scores, (0, q)).flatten(-2)  # a row is now as long as all the keys and all the queries
    flat = flat[..., q - 1 : q - 1 + q * (r + q - 1)]
    return flat.unflatten(-1, (q, r + q - 1))[..., :r]
