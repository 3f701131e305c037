import torch
import torch.nn.functional as F


def in_batch_loss(questions, contexts, positives):
    scores = torch.matmul(questions, contexts.T)
    return F.nll_loss(F.log_softmax(scores, dim=-1), positives)
