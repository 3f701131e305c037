import torch
import torch.nn.functional as F


def rag_token_log_probs(token_logits, doc_scores, targets):
    B, D, T, V = token_logits.shape
    index = targets.view(B, 1, T, 1).expand(B, D, T, 1)
    tokens = torch.log_softmax(token_logits, dim=3).gather(3, index)[..., 0]
    joint = tokens + torch.log_softmax(doc_scores, dim=1)[:, :, None]
    return joint.logsumexp(dim=1).sum(dim=1)
