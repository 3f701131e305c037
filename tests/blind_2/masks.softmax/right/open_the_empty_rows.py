# style: empty rows are opened first, then log_softmax and exp, then closed again
def masked_softmax(scores, mask):
    somebody = mask.any(dim=-1, keepdim=True)
    usable = mask | somebody.logical_not()
    minus = torch.full((), -math.inf, dtype=scores.dtype, device=scores.device)
    logp = F.log_softmax(torch.where(usable, scores, minus), dim=-1)
    w = logp.exp()
    return torch.where(mask, w, torch.zeros((), dtype=w.dtype, device=w.device))
