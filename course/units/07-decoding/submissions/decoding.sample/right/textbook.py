import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    probs = torch.softmax(logits.double() / temperature, dim=-1)
    return (probs.cumsum(-1) <= u.unsqueeze(-1)).sum(-1)
