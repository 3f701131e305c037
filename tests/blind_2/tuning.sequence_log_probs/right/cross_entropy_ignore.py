# style: F.cross_entropy with ignore_index, summed per row, with a sign change
def sequence_log_probs(logits, labels):
    before = logits[:, :-1].transpose(1, 2)  # [B,V,L-1], as cross_entropy wants it
    nll = F.cross_entropy(before, labels[:, 1:], ignore_index=-100, reduction="none")
    return nll.sum(dim=1).neg()
