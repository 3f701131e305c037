# the replacement comes from |p - q| instead of max(p - q, 0) + no additional token when all are accepted
def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    ids = torch.as_tensor(draft_ids)
    n = ids.numel()
    pos = torch.arange(n)
    ratio = target_probs[pos, ids] / draft_probs[pos, ids]
    ok = (torch.as_tensor(accept_u, dtype=ratio.dtype) < ratio).long()
    m = int(ok.cumprod(0).sum())
    accepted = ids[:m].tolist()
    if m < n:
        diff = (target_probs[m] - draft_probs[m]).abs()
        diff = diff / diff.sum()
        accepted.append(int((diff.cumsum(0) <= float(last_u)).sum()))
    return accepted
