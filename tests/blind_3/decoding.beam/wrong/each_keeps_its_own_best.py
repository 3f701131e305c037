# after the first step each hypothesis only keeps its own best continuation (greedy beam_size times) instead of all competing
def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    beams = [([start_id], 0.0)]
    done = []
    for t in range(max_new_tokens):
        if not beams:
            break
        ids = torch.tensor([b[0] for b in beams])
        logp = torch.log_softmax(step(ids), dim=-1)
        new = []
        # first step: branch into the best beam_size words, then follow every branch
        k = min(beam_size, logp.shape[-1]) if t == 0 else 1
        for i, (prefix, score) in enumerate(beams):
            vals, idx = logp[i].topk(k)
            for v, w in zip(vals.tolist(), idx.tolist()):
                new.append((prefix + [w], score + v))
        beams = [b for b in new if b[0][-1] != end_id]
        done += [b for b in new if b[0][-1] == end_id]
    all_hyps = [(p, s / (len(p) - 1) ** length_penalty) for p, s in done + beams]
    all_hyps.sort(key=lambda x: x[1], reverse=True)
    return all_hyps[:beam_size]
