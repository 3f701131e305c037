# cumulative >= u instead of > u: u = 0 draws word 0 even if its logit is -inf
def sample_token(logits, u, temperature=1.0):
    if temperature == 0.0:
        return logits.max(-1)[1]
    cdf = torch.cumsum(torch.softmax(logits / temperature, dim=-1), dim=-1)
    idx = torch.searchsorted(cdf, u.reshape(-1, 1), right=False).squeeze(1)
    return torch.clamp(idx, 0, logits.size(-1) - 1)
