# finished hypotheses keep taking a place in the beam in all later steps
def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    beam = [([start_id], 0.0, False)]
    for _ in range(max_new_tokens):
        open_ones = [h for h in beam if not h[2]]
        if not open_ones:
            break
        logits = step(torch.tensor([h[0] for h in open_ones]))
        lp = F.log_softmax(logits, -1)
        V = lp.shape[-1]
        total = lp + torch.tensor([h[1] for h in open_ones])[:, None]
        best = total.flatten().sort(descending=True, stable=True)
        pool = [h for h in beam if h[2]]
        for val, ix in zip(best.values[:beam_size].tolist(), best.indices[:beam_size].tolist()):
            w = ix % V
            pool.append((open_ones[ix // V][0] + [w], val, w == end_id))
        pool.sort(key=lambda h: h[1], reverse=True)
        beam = pool[:beam_size]
    res = []
    for ids, s, _ in beam:
        res.append((ids, s / (len(ids) - 1) ** length_penalty))
    return sorted(res, key=lambda r: -r[1])
