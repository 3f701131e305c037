import torch.nn.functional as F


def label_smoothed_loss(logits, targets, smoothing, pad_id):
    # torch gives the target a share of the smoothing too; with a little more of it, its others get what ours get
    vocab = logits.size(-1)
    real = targets != pad_id
    return F.cross_entropy(logits[real], targets[real], label_smoothing=smoothing * vocab / (vocab - 1))
