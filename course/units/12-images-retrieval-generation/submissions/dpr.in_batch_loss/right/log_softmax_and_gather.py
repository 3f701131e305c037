def in_batch_loss(questions, contexts, positives):
    log_probs = (questions @ contexts.transpose(0, 1)).log_softmax(dim=1)
    return -log_probs.gather(1, positives.unsqueeze(1)).mean()
