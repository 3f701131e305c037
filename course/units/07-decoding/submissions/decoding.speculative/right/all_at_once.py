import torch


def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    n = len(draft_ids)
    target, draft = target_probs.double(), draft_probs.double()
    place, ids = torch.arange(n), torch.tensor(draft_ids)
    ratio = target.cpu()[place, ids] / draft.cpu()[place, ids]
    keep = torch.tensor(accept_u, dtype=torch.float64) < ratio
    kept = int(keep.long().cumprod(0).sum())
    rest = target[kept] if kept == n else (target[kept] - draft[kept]).clamp(min=0)
    cumulative = (rest / rest.sum()).cumsum(0)
    new = int((cumulative <= last_u).sum().clamp(max=len(rest) - 1))
    return [*draft_ids[:kept], new]
