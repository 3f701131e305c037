import torch


def sample_token(logits, u, temperature=1.0):
    ids = []
    for row, draw in zip(logits.double(), u.tolist()):
        if temperature == 0:
            ids.append(int(row.argmax()))
            continue
        total = 0.0
        for token, probability in enumerate((row / temperature).softmax(-1).tolist()):
            total += probability
            if total > draw:
                break
        ids.append(token)
    return torch.tensor(ids, device=logits.device)
