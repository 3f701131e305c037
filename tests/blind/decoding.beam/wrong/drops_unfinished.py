# returns finished hypotheses only; the live ones at max_new_tokens are forgotten
import heapq


def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    live = [(0.0, [start_id])]
    complete = []
    n = 0
    while live and n < max_new_tokens:
        n += 1
        lp = torch.log_softmax(step(torch.tensor([ids for _, ids in live])).double(), -1)
        options = []
        for (s, ids), row in zip(live, lp.tolist()):
            for w, l in enumerate(row):
                options.append((s + l, ids + [w]))
        best = heapq.nlargest(beam_size, options, key=lambda o: o[0])
        live = []
        for s, ids in best:
            if ids[-1] == end_id:
                complete.append((ids, s / n ** length_penalty))
            else:
                live.append((s, ids))
    return heapq.nlargest(beam_size, complete, key=lambda c: c[1])
