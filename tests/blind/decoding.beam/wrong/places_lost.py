# a finished hypothesis keeps its place: the beam gets smaller by one for each
def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    beams = [([start_id], 0.0)]
    finished = []
    k = beam_size
    for t in range(max_new_tokens):
        if len(beams) == 0 or k == 0:
            break
        prefix = torch.tensor([b[0] for b in beams])
        logp = F.log_softmax(step(prefix).float(), dim=-1)
        scores = torch.tensor([b[1] for b in beams]).unsqueeze(1) + logp
        V = scores.shape[1]
        values, idx = scores.flatten().topk(min(k, scores.numel()))
        new_beams = []
        for v, i in zip(values.tolist(), idx.tolist()):
            ids = beams[i // V][0] + [i % V]
            if ids[-1] == end_id:
                finished.append((ids, v))
                k -= 1
            else:
                new_beams.append((ids, v))
        beams = new_beams
    result = [(ids, s / max(len(ids) - 1, 1) ** length_penalty) for ids, s in finished + beams]
    result.sort(key=lambda r: r[1], reverse=True)
    return result[:beam_size]
