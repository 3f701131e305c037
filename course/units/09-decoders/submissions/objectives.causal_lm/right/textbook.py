import torch.nn.functional as F


def causal_lm_loss(logits, ids, pad_id):
    vocab = logits.size(-1)
    predicted, wanted = logits[:, :-1].reshape(-1, vocab), ids[:, 1:].reshape(-1)
    total = F.cross_entropy(predicted, wanted, ignore_index=pad_id, reduction="sum")
    return total / wanted.ne(pad_id).sum().clamp(min=1)
