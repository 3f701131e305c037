# sums raw logits without log_softmax + stops as soon as one hypothesis has ended
def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    hyps = [([start_id], 0.0)]
    ended = []
    for i in range(max_new_tokens):
        logits = step(torch.tensor([h[0] for h in hyps]))
        all_candidates = []
        for j, (seq, score) in enumerate(hyps):
            for w in range(logits.shape[1]):
                all_candidates.append((seq + [w], score + logits[j, w].item()))
        ordered = sorted(all_candidates, key=lambda tup: tup[1], reverse=True)[:beam_size]
        ended = [c for c in ordered if c[0][-1] == end_id]
        hyps = [c for c in ordered if c[0][-1] != end_id]
        if ended:
            break
    final = [(s, sc / max(len(s) - 1, 1) ** length_penalty) for s, sc in ended + hyps]
    return sorted(final, key=lambda tup: tup[1], reverse=True)[:beam_size]
