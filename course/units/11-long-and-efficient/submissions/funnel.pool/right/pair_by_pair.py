import torch


def pool_sequence(x, mask):
    rows, masks = [], []
    for row, real in zip(x, mask):
        pooled, kept = [], []
        for start in range(0, len(row), 2):
            pair = row[start : start + 2][real[start : start + 2]]
            pooled.append(pair.mean(0) if len(pair) else torch.zeros_like(row[0]))
            kept.append(len(pair) > 0)
        rows.append(torch.stack(pooled))
        masks.append(kept)
    return torch.stack(rows), torch.tensor(masks, device=x.device)
