# each answer's tokens are averaged first, then the answers, instead of one mean over all tokens
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    delta = (log_probs - old_log_probs.detach()).masked_fill(~mask, 0)
    r = delta.exp()
    a = advantages.detach().unsqueeze(-1)
    obj = torch.minimum(r * a, r.clip(1 - clip, 1 + clip) * a) * mask
    per_answer = obj.sum(1) / mask.sum(1).clamp(min=1)
    return -per_answer.mean()
