# counts positions whose input is not padding, so the last word of a short text has to predict a pad
def causal_lm_loss(logits, ids, pad_id):
    inp, tgt = ids[:, :-1], ids[:, 1:]
    logp = F.log_softmax(logits[:, :-1], dim=-1)
    nll = -torch.gather(logp, 2, tgt.unsqueeze(-1)).squeeze(-1)
    real = (inp != pad_id).float()
    denom = real.sum()
    if denom == 0:
        return (nll * 0).sum()
    return (nll * real).sum() / denom
