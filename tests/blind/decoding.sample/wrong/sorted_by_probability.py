# lays the words on the line in the order of their probability, not of their ids
def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.max(dim=1).indices
    probs, words = torch.sort(F.softmax(logits / temperature, dim=1), dim=1, descending=True)
    result = []
    for row in range(logits.shape[0]):
        total = 0.0
        choice = words[row, 0]
        for p, w in zip(probs[row], words[row]):
            if p == 0:
                break
            choice = w
            total = total + p
            if total > u[row]:
                break
        result.append(choice)
    return torch.stack(result)
