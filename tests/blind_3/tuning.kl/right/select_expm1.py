# style: select the tokens first, then expm1, and divide by a count that is at least one
def kl_estimate(log_probs, ref_log_probs, mask):
    mine = torch.masked_select(log_probs, mask)
    theirs = torch.masked_select(ref_log_probs.detach(), mask)
    d = theirs - mine
    return (torch.expm1(d) - d).sum() / max(d.numel(), 1)
