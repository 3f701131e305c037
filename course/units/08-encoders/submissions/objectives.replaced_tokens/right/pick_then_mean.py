import torch.nn.functional as F


def replaced_token_detection_loss(logits, original, corrupted, mask):
    if not mask.any():
        return 0.0 * logits.sum()
    right = F.logsigmoid(logits).where(original != corrupted, F.logsigmoid(-logits))
    return -right[mask].mean()
