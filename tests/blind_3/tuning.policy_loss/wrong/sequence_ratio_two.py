# one ratio for the whole answer instead of one per token + the sign: returns the objective, not its negative
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    new = log_probs.masked_fill(~mask, 0).sum(1)
    old = old_log_probs.detach().masked_fill(~mask, 0).sum(1)
    r = torch.exp(new - old)
    A = advantages.detach()
    obj = torch.min(r * A, torch.clamp(r, 1 - clip, 1 + clip) * A)
    counts = mask.sum(1)
    return (obj * counts).sum() / counts.sum().clamp(min=1)
