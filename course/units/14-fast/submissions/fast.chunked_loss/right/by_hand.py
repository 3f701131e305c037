import torch


def chunked_cross_entropy(h, w, targets, chunk):
    sums = []
    for rows, wanted in zip(h.split(chunk), targets.split(chunk)):
        kept = wanted != -100
        logits = rows[kept].float() @ w.float().T if h.dtype == torch.bfloat16 else rows[kept] @ w.T
        right = logits.gather(1, wanted[kept][:, None]).squeeze(1)
        sums.append((logits.logsumexp(-1) - right).sum())
    count = max(int((targets != -100).sum()), 1)
    return (torch.stack(sums).sum() / count).to(h.dtype)
