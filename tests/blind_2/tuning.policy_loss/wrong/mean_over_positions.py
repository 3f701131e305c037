# divides by B*L instead of by the number of tokens in the mask
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    B, L = log_probs.shape
    a = advantages.detach().view(B, 1)
    ratio = torch.exp(log_probs - old_log_probs.detach())
    surr1 = ratio * a
    surr2 = ratio.clamp(1 - clip, 1 + clip) * a
    loss = -torch.min(surr1, surr2)
    loss = loss.masked_fill(~mask, 0.0)
    return loss.mean()
