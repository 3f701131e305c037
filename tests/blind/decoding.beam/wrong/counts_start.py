# divides by the length with the start symbol
def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    sequences = torch.full((1, 1), start_id, dtype=torch.long)
    sums = torch.zeros(1)
    finished = []

    def add(seq, s):
        ids = seq.tolist()
        finished.append((ids, float(s) / len(ids) ** length_penalty))

    for _ in range(max_new_tokens):
        if sequences.shape[0] == 0:
            break
        log_probs = step(sequences).float().log_softmax(-1) + sums[:, None]
        n_vocab = log_probs.shape[-1]
        top, where = log_probs.reshape(-1).topk(min(beam_size, log_probs.numel()))
        parents = torch.div(where, n_vocab, rounding_mode="floor")
        words = where % n_vocab
        sequences = torch.cat([sequences[parents], words[:, None]], dim=1)
        ended = words == end_id
        for seq, s in zip(sequences[ended], top[ended]):
            add(seq, s)
        sequences, sums = sequences[~ended], top[~ended]
    for seq, s in zip(sequences, sums):
        add(seq, s)
    finished.sort(key=lambda h: -h[1])
    return finished[:beam_size]
