import torch
import torch.nn.functional as F


def rag_token_log_probs(token_logits, doc_scores, targets):
    weights, total = doc_scores.log_softmax(-1), 0
    for t in range(targets.size(1)):
        words = targets[:, t].view(-1, 1, 1).expand(-1, doc_scores.size(1), 1)
        read = token_logits[:, :, t].log_softmax(-1).gather(-1, words).squeeze(-1)
        total = total + (weights + read).logsumexp(-1)
    return total
