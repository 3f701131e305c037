# style: Python floats and heapq.nlargest over a generator of all continuations
import heapq


def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    live = [(0.0, [start_id])]
    ended = []

    def continuations():
        logp = step(torch.tensor([ids for _, ids in live])).double().log_softmax(-1).tolist()
        for (total, ids), row in zip(live, logp):
            for word, lp in enumerate(row):
                yield total + lp, ids, word

    for _ in range(max_new_tokens):
        survivors = heapq.nlargest(beam_size, continuations(), key=lambda c: c[0])
        live = []
        for total, ids, word in survivors:
            (ended if word == end_id else live).append((total, ids + [word]))
        if not live:
            break

    scored = [(ids, total / max(len(ids) - 1, 1) ** length_penalty) for total, ids in ended + live]
    scored.sort(key=lambda pair: pair[1], reverse=True)
    return scored[:beam_size]
