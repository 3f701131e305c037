import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.max(dim=-1).indices
    cdf = torch.softmax(logits.double() / temperature, dim=-1).cumsum(dim=-1)
    found = torch.searchsorted(cdf, u.double().unsqueeze(-1), right=True).squeeze(-1)
    return found.clamp(max=logits.shape[-1] - 1)
