def label_smoothed_loss(logits, targets, smoothing, pad_id):
    total, count = 0.0, 0
    vocab = logits.size(-1)
    for sentence, words in zip(logits, targets.tolist()):
        for scores, word in zip(sentence, words):
            if word == pad_id:
                continue
            log_p = scores - scores.logsumexp(0)
            for other in range(vocab):
                share = 1 - smoothing if other == word else smoothing / (vocab - 1)
                total = total - share * log_p[other]
            count += 1
    return total / count
