# one question at a time: logsumexp of all minus the own score
def in_batch_loss(questions, contexts, positives):
    losses = []
    for q, p in zip(questions, positives.tolist()):
        s = torch.mv(contexts, q)
        losses.append(s.logsumexp(dim=0) - s[p])
    return torch.stack(losses).mean()
