# selects the tokens first, then expm1
def kl_estimate(log_probs, ref_log_probs, mask):
    d = torch.masked_select(ref_log_probs.detach(), mask) - torch.masked_select(log_probs, mask)
    each = torch.expm1(d) - d
    return each.sum() / max(int(mask.sum()), 1)
