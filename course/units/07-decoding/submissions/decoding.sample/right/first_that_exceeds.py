import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0.0:
        return logits.argmax(-1)
    scaled = logits.double() / temperature
    weights = (scaled - scaled.amax(-1, keepdim=True)).exp()
    cumulative = weights.cumsum(-1)
    exceeds = cumulative > u.unsqueeze(-1) * cumulative[:, -1:]
    return exceeds.to(torch.uint8).argmax(-1)
