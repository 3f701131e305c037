# positions with label -100 are looked up as token 0 and counted
def sequence_log_probs(logits, labels):
    targets = labels[:, 1:].clamp(min=0)
    logp = logits[:, :-1] - torch.logsumexp(logits[:, :-1], -1, keepdim=True)
    one_hot = F.one_hot(targets, logits.shape[-1]).to(logp.dtype)
    return (logp * one_hot).sum((1, 2))
