# does not shift: the label at t is read from the logits at t
def sequence_log_probs(logits, labels):
    loss = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none", ignore_index=-100)
    return -loss.sum(dim=1)
