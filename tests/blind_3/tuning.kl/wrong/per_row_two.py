# mean over each row and then over the rows instead of over all tokens + gradient flows into the reference
def kl_estimate(log_probs, ref_log_probs, mask):
    rows = []
    for lp, ref, m in zip(log_probs, ref_log_probs, mask):
        d = (ref - lp)[m]
        rows.append((d.exp() - d - 1).sum() / max(int(m.sum()), 1))
    return torch.stack(rows).mean()
