# maximum instead of minimum of the two terms, so the clipping never limits anything
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    old = old_log_probs.detach()
    total, count = log_probs.new_zeros(()), 0
    for b in range(log_probs.size(0)):
        A = advantages[b].detach()
        r = (log_probs[b] - old[b]).exp()[mask[b]]
        t = torch.stack([r * A, r.clamp(1 - clip, 1 + clip) * A])
        total = total - t.max(dim=0).values.sum()
        count += r.numel()
    return total / max(count, 1)
