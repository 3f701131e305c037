# only the clamped ratio is used, without the minimum (a bad answer that became likelier is clipped too)
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    r = torch.exp(log_probs - old_log_probs.detach())
    r = torch.clamp(r, 1 - clip, 1 + clip)
    obj = r * advantages.detach().unsqueeze(-1)
    n = mask.sum()
    if n == 0:
        return (log_probs * 0.0).sum()
    return -(obj * mask).sum() / n
