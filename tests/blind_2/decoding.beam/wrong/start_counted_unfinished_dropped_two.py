# the start symbol counts in the length of the penalty + unfinished hypotheses are dropped at the end
def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    live, finished = [([start_id], 0.0)], []
    for _ in range(max_new_tokens):
        if not live:
            break
        logp = torch.log_softmax(step(torch.tensor([h[0] for h in live])), -1)
        scores = logp + torch.tensor([h[1] for h in live]).unsqueeze(1)
        k = min(beam_size, scores.numel())
        values, flat = torch.topk(scores.view(-1), k)
        new_live = []
        for val, f in zip(values.tolist(), flat.tolist()):
            parent, tok = divmod(f, logp.size(1))
            hyp = (live[parent][0] + [tok], val)
            if tok == end_id:
                finished.append((hyp[0], val / len(hyp[0]) ** length_penalty))
            else:
                new_live.append(hyp)
        live = new_live
    return sorted(finished, key=lambda h: h[1], reverse=True)[:beam_size]
