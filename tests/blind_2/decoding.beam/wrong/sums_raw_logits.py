# sums the logits themselves instead of log-probabilities (no log_softmax)
def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    seqs = torch.tensor([[start_id]])
    sums = torch.zeros(1)
    done = []
    n = 0
    while n < max_new_tokens and len(seqs) > 0:
        logits = step(seqs)
        V = logits.shape[-1]
        total = (sums[:, None] + logits).flatten()
        top, idx = total.topk(min(beam_size, total.numel()))
        seqs = torch.cat([seqs[idx // V], (idx % V)[:, None]], dim=1)
        n += 1
        stop = seqs[:, -1] == end_id
        for ids, s in zip(seqs[stop].tolist(), top[stop].tolist()):
            done.append((ids, s / n ** length_penalty))
        seqs, sums = seqs[~stop], top[~stop]
    for ids, s in zip(seqs.tolist(), sums.tolist()):
        done.append((ids, s / n ** length_penalty))
    done.sort(key=lambda x: x[1], reverse=True)
    return done[:beam_size]
