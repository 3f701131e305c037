# mean over the labelled tokens instead of their sum
def sequence_log_probs(logits, labels):
    res = []
    for lg, lb in zip(logits, labels):
        targets = lb[1:]
        pos = (targets != -100).nonzero().flatten()
        lp = torch.log_softmax(lg[:-1], -1)
        vals = lp[pos, targets[pos]]
        res.append(vals.sum() / max(len(pos), 1))
    return torch.stack(res)
