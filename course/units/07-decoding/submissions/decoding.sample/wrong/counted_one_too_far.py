"""You return the word after the one on which the draw falls.

How many words end to the left of the draw, if it falls on word 0?"""

import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    probs = torch.softmax(logits.double() / temperature, dim=-1)
    passed = (probs.cumsum(-1) <= u.unsqueeze(-1)).sum(-1)
    return (passed + 1).clamp(max=logits.size(-1) - 1)
