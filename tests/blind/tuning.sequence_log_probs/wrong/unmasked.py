# replaces -100 by 0 for gather and does not take those places out again
def sequence_log_probs(logits, labels):
    log_p = F.log_softmax(logits[:, :-1, :], dim=-1)
    y = labels[:, 1:].clone()
    y[y == -100] = 0
    token_logp = torch.gather(log_p, dim=2, index=y[:, :, None])[:, :, 0]
    return token_logp.sum(-1)
