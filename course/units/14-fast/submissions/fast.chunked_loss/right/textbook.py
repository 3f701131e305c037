import torch
import torch.nn.functional as F


def chunked_cross_entropy(h, w, targets, chunk):
    wide = torch.promote_types(h.dtype, torch.float32)
    total = h.new_zeros((), dtype=wide)
    for start in range(0, h.size(0), chunk):
        rows = slice(start, start + chunk)
        logits = (h[rows] @ w.T).to(wide)
        losses = F.cross_entropy(logits, targets[rows], ignore_index=-100, reduction="none")
        total = total + losses.sum()
    count = (targets != -100).sum().clamp(min=1)
    return (total / count).to(h.dtype)
