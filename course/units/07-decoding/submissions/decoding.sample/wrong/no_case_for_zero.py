"""At temperature 0 you divide by zero, and what comes out is NaN.

Which word is left when the temperature goes towards 0?"""

import torch


def sample_token(logits, u, temperature=1.0):
    probs = torch.softmax(logits.double() / temperature, dim=-1)
    return (probs.cumsum(-1) <= u.unsqueeze(-1)).sum(-1)
