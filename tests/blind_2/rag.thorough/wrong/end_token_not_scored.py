# the end token is left out of the probability
def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    p_doc = doc_scores.log_softmax(0)
    results = []
    for reader in readers:
        out = greedy_decode(reader, torch.tensor([start_id]), end_id, max_new_tokens, end_id)
        ids = out[0].tolist()
        logps = []
        for d in range(len(readers)):
            s = p_doc[d].clone()
            for t in range(1, len(ids)):
                if ids[t] == end_id:
                    break
                step = readers[d](torch.tensor([ids[:t]]))[0].log_softmax(-1)
                s += step[ids[t]]
            logps.append(s)
        results.append((ids, float(torch.logsumexp(torch.stack(logps), 0))))
    return max(results, key=lambda r: r[1])
