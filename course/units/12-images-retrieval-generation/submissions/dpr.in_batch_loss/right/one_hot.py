import torch
import torch.nn.functional as F


def in_batch_loss(questions, contexts, positives):
    log_probs = torch.log_softmax(questions.mm(contexts.t()), 1)
    target = F.one_hot(positives, contexts.size(0)).to(log_probs.dtype)
    return -(target * log_probs).sum() / len(questions)
