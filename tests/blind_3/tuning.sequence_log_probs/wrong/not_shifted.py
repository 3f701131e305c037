# logits at t are compared with the label at t, no shift
def sequence_log_probs(logits, labels):
    lp = -F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=-100, reduction="none")
    return lp.sum(dim=1)
