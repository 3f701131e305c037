# Python lists of candidates sorted by hand, float64 log-probabilities
def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    live = [([start_id], 0.0)]
    done = []
    for _ in range(max_new_tokens):
        if not live:
            break
        logits = step(torch.tensor([ids for ids, _ in live], dtype=torch.long))
        table = torch.log_softmax(logits.detach().double(), dim=-1).tolist()
        candidates = [
            (total + lp, row, word)
            for row, (_, total) in enumerate(live)
            for word, lp in enumerate(table[row])
        ]
        candidates.sort(key=lambda c: -c[0])
        survivors = [(live[row][0] + [word], total) for total, row, word in candidates[:beam_size]]
        done.extend(h for h in survivors if h[0][-1] == end_id)
        live = [h for h in survivors if h[0][-1] != end_id]

    def score(hypothesis):
        ids, total = hypothesis
        n = len(ids) - 1
        return total / n ** length_penalty if n > 0 else 0.0

    ranked = sorted(done + live, key=score, reverse=True)
    return [(h[0], score(h)) for h in ranked[:beam_size]]
