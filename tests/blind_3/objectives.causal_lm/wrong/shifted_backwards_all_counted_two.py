# each position is scored on the token before it + divided by all positions, padding included
def causal_lm_loss(logits, ids, pad_id):
    lp = logits[:, 1:].log_softmax(-1)
    label = ids[:, :-1]
    one_hot = F.one_hot(label, logits.shape[-1]).to(lp.dtype)
    loss = -(lp * one_hot).sum(-1)
    loss = torch.where(label == pad_id, torch.zeros_like(loss), loss)
    return loss.mean()
