import torch.nn.functional as F


def causal_lm_loss(logits, ids, pad_id):
    row, place = (ids[:, 1:] != pad_id).nonzero(as_tuple=True)
    if len(row) == 0:
        return 0 * logits.sum()
    return F.cross_entropy(logits[row, place], ids[row, place + 1])
