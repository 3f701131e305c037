import heapq

import torch


class Hypothesis:
    def __init__(self, ids, log_prob):
        self.ids, self.log_prob = ids, log_prob

    def grow(self, row):
        return (Hypothesis(self.ids + [word], self.log_prob + value) for word, value in enumerate(row))

    def score(self, penalty):
        return self.log_prob / max(1, len(self.ids) - 1) ** penalty


def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    beam, pool = [Hypothesis([start_id], 0.0)], []
    for _ in range(max_new_tokens):
        if not beam:
            break
        logits = step(torch.tensor([h.ids for h in beam])).float()
        rows = (logits - logits.logsumexp(-1, keepdim=True)).tolist()
        everyone = (child for h, row in zip(beam, rows) for child in h.grow(row))
        beam = []
        for h in heapq.nlargest(beam_size, everyone, key=lambda h: h.log_prob):
            (pool if h.ids[-1] == end_id else beam).append(h)
    winners = heapq.nlargest(beam_size, pool + beam, key=lambda h: h.score(length_penalty))
    return [(h.ids, h.score(length_penalty)) for h in winners]
