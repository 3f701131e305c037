import torch


def top_p_filter(logits, p):
    rows = logits.reshape(-1, logits.size(-1))
    kept = []
    for row in rows:
        probs, out, total = row.float().softmax(-1), torch.full_like(row, -torch.inf), 0.0
        for place in row.argsort(descending=False).tolist():
            if total >= p:
                break
            out[place] = row[place]
            total += probs[place].item()
        kept.append(out)
    return torch.stack(kept).reshape(logits.shape)
