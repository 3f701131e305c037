# only the replaced positions are scored, as in masked language modelling
def replaced_token_detection_loss(logits, original, corrupted, mask):
    total = logits.new_zeros(())
    n = 0
    for b in range(logits.size(0)):
        for s in range(logits.size(1)):
            if not mask[b, s]:
                continue
            if original[b, s] != corrupted[b, s]:
                total = total - F.logsigmoid(logits[b, s])
                n += 1
    return total / max(n, 1)
