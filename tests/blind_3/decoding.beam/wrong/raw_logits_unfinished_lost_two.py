# adds up raw logits without log_softmax + hypotheses that have not ended are left out of the result
def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    live = [(0.0, [start_id])]
    finished = []
    for _ in range(max_new_tokens):
        if not live:
            break
        out = step(torch.tensor([ids for _, ids in live]))
        cands = []
        for (s, ids), row in zip(live, out):
            for w in range(row.shape[0]):
                cands.append((s + row[w].item(), ids + [w]))
        cands.sort(key=lambda c: c[0], reverse=True)
        live = []
        for s, ids in cands[:beam_size]:
            (finished if ids[-1] == end_id else live).append((s, ids))
    finished = [(ids, s / (len(ids) - 1) ** length_penalty) for s, ids in finished]
    return sorted(finished, key=lambda f: f[1], reverse=True)[:beam_size]
