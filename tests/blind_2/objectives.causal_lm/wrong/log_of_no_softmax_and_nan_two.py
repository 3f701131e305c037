# takes the raw logits as log probabilities + the mean over no token is NaN
def causal_lm_loss(logits, ids, pad_id):
    pred = logits[:, :-1].permute(0, 2, 1)
    goal = ids[:, 1:]
    return F.nll_loss(pred, goal, ignore_index=pad_id)
