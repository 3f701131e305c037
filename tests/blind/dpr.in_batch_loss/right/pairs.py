# the positive's own product from the gathered vectors, the denominator by logaddexp over the passages one by one
def in_batch_loss(questions, contexts, positives):
    own = (questions * contexts[positives]).sum(dim=1)
    log_denominator = torch.full_like(own, float("-inf"))
    for passage in contexts:
        log_denominator = torch.logaddexp(log_denominator, questions @ passage)
    return (log_denominator - own).mean()
