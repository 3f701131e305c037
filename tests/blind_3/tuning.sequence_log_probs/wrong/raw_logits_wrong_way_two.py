# the raw logits are summed, without log_softmax + shifted the wrong way, label t with logits t + 1
def sequence_log_probs(logits, labels):
    B, L, V = logits.shape
    result = []
    for b in range(B):
        s = logits.new_zeros(())
        for t in range(L - 1):
            y = int(labels[b, t])
            if y != -100:
                s = s + logits[b, t + 1, y]
        result.append(s)
    return torch.stack(result)
