# the end token's probability is left out like that of the start
def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    dev = doc_scores.device
    props = [greedy_decode(r, torch.tensor([start_id], device=dev), end_id, max_new_tokens, end_id)[0] for r in readers]
    log_prior = doc_scores.log_softmax(0)
    scores = []
    for ids in props:
        lls = []
        for r in readers:
            ll = torch.zeros((), device=dev)
            for t in range(1, len(ids)):
                if ids[t] == end_id:
                    continue  # special tokens do not count
                ll = ll + r(ids[None, :t]).log_softmax(-1)[0, ids[t]]
            lls.append(ll)
        scores.append(torch.logsumexp(torch.stack(lls) + log_prior, 0))
    i = int(torch.stack(scores).argmax())
    return props[i].tolist(), float(scores[i])
