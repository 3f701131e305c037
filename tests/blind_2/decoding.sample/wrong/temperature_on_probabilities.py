# the temperature divides the probabilities instead of the logits
def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(dim=-1)
    p = torch.softmax(logits, dim=-1) / temperature
    c = p.cumsum(dim=-1)
    return (c <= u.unsqueeze(-1)).sum(dim=-1).clamp(max=logits.shape[-1] - 1)
