import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return torch.argmax(logits, dim=-1)
    cumulative = torch.cumsum(torch.softmax(logits.float() / temperature, dim=-1), dim=-1)
    return (cumulative <= u[:, None].float()).sum(-1).clamp(max=logits.size(-1) - 1)
