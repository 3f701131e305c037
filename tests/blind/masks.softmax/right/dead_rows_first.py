# finds the rows without any key, fills them with zeros before the softmax and again after it
def masked_softmax(scores, mask):
    mask = mask.expand(scores.shape)
    dead = mask.logical_not().all(dim=-1, keepdim=True)
    hidden = torch.full_like(scores, -math.inf)
    safe = torch.where(mask, scores, hidden)
    safe = torch.where(dead, torch.zeros_like(scores), safe)
    return torch.softmax(safe, dim=-1).masked_fill(dead, 0.0)
