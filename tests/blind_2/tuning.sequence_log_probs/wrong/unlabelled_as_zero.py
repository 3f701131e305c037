# positions with -100 are scored as token 0 and counted
def sequence_log_probs(logits, labels):
    x = logits[:, :-1, :]
    y = labels[:, 1:].clamp(min=0)
    log_z = x.logsumexp(dim=-1)
    score = torch.gather(x, 2, y.unsqueeze(2))[..., 0]
    return (score - log_z).sum(dim=-1)
