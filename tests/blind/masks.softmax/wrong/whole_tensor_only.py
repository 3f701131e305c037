# handles only the case that the whole mask is False, not a single row of it
def masked_softmax(scores, mask):
    if not mask.any():
        return scores * 0
    neg_inf = torch.tensor(float("-inf"), dtype=scores.dtype, device=scores.device)
    return F.softmax(torch.where(mask, scores, neg_inf), dim=-1)
