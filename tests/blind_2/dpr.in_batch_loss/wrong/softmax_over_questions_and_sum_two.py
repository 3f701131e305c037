# the softmax runs over the questions + the losses are summed, not averaged
def in_batch_loss(questions, contexts, positives):
    scores = torch.matmul(questions, contexts.transpose(0, 1))
    p = torch.softmax(scores, dim=0)
    loss = 0
    for i in range(len(positives)):
        loss = loss - torch.log(p[i, positives[i]])
    return loss
