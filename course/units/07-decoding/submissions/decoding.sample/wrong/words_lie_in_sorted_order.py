"""You lay the words side by side by probability; here they lie in the order of their ids.

It draws as often as it should, but other words for the same draw."""

import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    probs, order = torch.softmax(logits.double() / temperature, dim=-1).sort(-1, descending=True)
    place = (probs.cumsum(-1) <= u.unsqueeze(-1)).sum(-1, keepdim=True)
    return order.gather(-1, place).squeeze(-1)
