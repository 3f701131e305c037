"""You replace minus infinity by 0, a logit that is quite likely, so removed words are drawn again."""

import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    kept = logits.double().masked_fill(logits.isinf(), 0.0)
    probs = torch.softmax(kept / temperature, dim=-1)
    return (probs.cumsum(-1) <= u.unsqueeze(-1)).sum(-1)
