# mean per answer first and then over the answers, instead of over all counted tokens
def kl_estimate(log_probs, ref_log_probs, mask):
    ref = ref_log_probs.detach()
    rows = []
    for lp, rf, mk in zip(log_probs, ref, mask):
        if mk.any():
            delta = (rf - lp)[mk]
            rows.append((delta.exp() - delta - 1).mean())
    if not rows:
        return (log_probs * 0).sum()
    return torch.stack(rows).mean()
