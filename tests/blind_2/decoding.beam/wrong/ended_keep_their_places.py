# ended hypotheses keep their places: the beam gets narrower with each one that ends
def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    beams = [([start_id], 0.0)]
    finished = []
    for _ in range(max_new_tokens):
        width = beam_size - len(finished)
        if width <= 0 or not beams:
            break
        prefixes = torch.tensor([ids for ids, _ in beams])
        logp = F.log_softmax(step(prefixes), dim=-1)
        cand = []
        for i, (ids, s) in enumerate(beams):
            for w in range(logp.shape[1]):
                cand.append((ids + [w], s + logp[i, w].item()))
        cand.sort(key=lambda c: -c[1])
        beams = []
        for ids, s in cand[:width]:
            if ids[-1] == end_id:
                finished.append((ids, s))
            else:
                beams.append((ids, s))
    everything = finished + beams
    result = [(ids, s / (len(ids) - 1) ** length_penalty) for ids, s in everything]
    return sorted(result, key=lambda r: r[1], reverse=True)[:beam_size]
