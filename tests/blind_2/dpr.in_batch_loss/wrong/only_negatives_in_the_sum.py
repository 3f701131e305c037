# the denominator leaves out the question's own passage
def in_batch_loss(questions, contexts, positives):
    s = questions.mm(contexts.t())
    own = s.gather(1, positives.unsqueeze(1)).squeeze(1)
    others = s.clone()
    others[torch.arange(s.size(0)), positives] = float("-inf")
    return (torch.logsumexp(others, dim=1) - own).mean()
