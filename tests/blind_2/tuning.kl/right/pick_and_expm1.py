# style: picks the counted tokens first, expm1, empty selection handled by max(count, 1)
def kl_estimate(log_probs, ref_log_probs, mask):
    d = torch.masked_select(ref_log_probs.detach(), mask) - torch.masked_select(log_probs, mask)
    per_token = torch.expm1(d) - d
    return per_token.sum() / max(per_token.numel(), 1)
