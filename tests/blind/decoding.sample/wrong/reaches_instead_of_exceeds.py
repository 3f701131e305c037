# takes the first word whose cumulative probability reaches u (>=), so u = 0 draws word 0 even with probability 0
def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    probs = F.softmax(logits / temperature, dim=-1)
    cum = probs.cumsum(-1)
    cum[:, -1] = 1.0
    return (cum >= u.unsqueeze(-1)).int().argmax(-1)
