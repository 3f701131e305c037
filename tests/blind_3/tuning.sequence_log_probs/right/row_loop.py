# style: a loop over the rows that picks the labelled positions, logit minus logsumexp
def sequence_log_probs(logits, labels):
    sums = []
    for row, lab in zip(logits, labels):
        t = torch.nonzero(lab[1:] != -100).flatten() + 1
        before = row[t - 1]
        chosen = before[torch.arange(len(t), device=row.device), lab[t]]
        sums.append((chosen - before.logsumexp(-1)).sum())
    return torch.stack(sums)
