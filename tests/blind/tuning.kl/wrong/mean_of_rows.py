# averages within each row first and then over the rows
def kl_estimate(log_probs, ref_log_probs, mask):
    with torch.no_grad():
        ref = ref_log_probs.masked_fill(~mask, 0.0)
    d = ref - log_probs.masked_fill(~mask, 0.0)
    per_token = d.exp() - d - 1.0
    per_row = per_token.sum(dim=1) / mask.sum(dim=1).clamp(min=1)
    return per_row.mean()
