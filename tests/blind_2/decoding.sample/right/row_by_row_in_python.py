# style: row by row with Python floats, walking along the line until the draw is passed
def _draw(logits, u, temperature):
    top = max(logits)
    if temperature == 0:
        return logits.index(top)
    weights = [math.exp((z - top) / temperature) for z in logits]
    total = math.fsum(weights)
    reached, last = 0.0, None
    for word, w in enumerate(weights):
        if w == 0.0:
            continue
        reached += w / total
        last = word
        if reached > u:
            break
    return last             # rounding: a draw beyond the end falls on the last possible word


def sample_token(logits, u, temperature=1.0):
    words = [_draw(row, float(x), float(temperature)) for row, x in zip(logits.tolist(), u)]
    return torch.tensor(words, dtype=torch.long, device=logits.device)
