# the mean over the labelled tokens instead of the sum
def sequence_log_probs(logits, labels):
    lp = F.log_softmax(logits[:, :-1], dim=-1)
    y = labels[:, 1:]
    m = y.ne(-100)
    tok = lp.gather(2, y.masked_fill(~m, 0).unsqueeze(2)).squeeze(2)
    return (tok * m).sum(1) / m.sum(1).clamp(min=1)
