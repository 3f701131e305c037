import torch
import torch.nn.functional as F


def rag_sequence_log_probs(token_logits, doc_scores, targets):
    totals = []
    for logits, scores, words in zip(token_logits, doc_scores, targets):
        log_probs = logits.log_softmax(-1)  # [D,T,V]
        read = torch.stack([log_probs[:, t, word] for t, word in enumerate(words.tolist())], dim=1).sum(1)
        totals.append(torch.logsumexp(scores.log_softmax(0) + read, 0))
    return torch.stack(totals)
