def gap_sentences(sentences, chosen, mask):
    gap = [i in chosen for i in range(len(sentences))]
    inputs = [token for sentence, hidden in zip(sentences, gap) for token in ([mask] if hidden else sentence)]
    targets = [token for sentence, hidden in zip(sentences, gap) if hidden for token in sentence]
    return inputs, targets
