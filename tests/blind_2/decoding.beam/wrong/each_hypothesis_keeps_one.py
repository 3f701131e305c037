# no competition: after the first step every hypothesis keeps just its own best continuation (greedy beam_size times over)
def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    class Hyp:
        def __init__(self, ids, logp):
            self.ids, self.logp = ids, logp

        def score(self):
            return self.logp / (len(self.ids) - 1) ** length_penalty

    first = step(torch.tensor([[start_id]])).log_softmax(-1)[0]
    vals, words = first.topk(min(beam_size, len(first)))
    hyps = [Hyp([start_id, w], lp) for w, lp in zip(words.tolist(), vals.tolist())]
    for _ in range(max_new_tokens - 1):
        live = [h for h in hyps if h.ids[-1] != end_id]
        if not live:
            break
        lp = step(torch.tensor([h.ids for h in live])).log_softmax(-1)
        best = lp.max(-1)
        for h, w, l in zip(live, best.indices.tolist(), best.values.tolist()):
            h.ids = h.ids + [w]
            h.logp += l
    hyps.sort(key=Hyp.score, reverse=True)
    return [(h.ids, h.score()) for h in hyps]
