import torch
import torch.nn.functional as F


def rag_sequence_log_probs(token_logits, doc_scores, targets):
    documents = token_logits.size(1)
    copies = targets.unsqueeze(1).expand(-1, documents, -1)
    loss = F.cross_entropy(token_logits.permute(0, 3, 1, 2), copies, reduction="none")  # [B,D,T]
    return (F.log_softmax(doc_scores, dim=-1) - loss.sum(2)).logsumexp(-1)
