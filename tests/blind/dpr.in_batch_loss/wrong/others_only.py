# the sum below the fraction leaves out the positive itself: only the wrong passages
def in_batch_loss(questions, contexts, positives):
    scores = torch.mm(questions, contexts.t())
    B = len(questions)
    rows = torch.arange(B)
    pos = scores[rows, positives]
    neg = scores.clone()
    neg[rows, positives] = float("-inf")
    return -(pos - torch.logsumexp(neg, dim=1)).mean()
