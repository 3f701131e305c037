# softmax over the questions instead of the contexts + the sum over the batch instead of the mean
def in_batch_loss(questions, contexts, positives):
    loss = 0
    logits = torch.matmul(questions, contexts.transpose(0, 1))
    p = torch.softmax(logits, dim=0)
    for i, j in enumerate(positives.tolist()):
        loss = loss - torch.log(p[i, j])
    return loss
