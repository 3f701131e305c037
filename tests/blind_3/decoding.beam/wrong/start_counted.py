# the start symbol is counted in the length by which the score is divided
def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    prefix = torch.full((1, 1), start_id, dtype=torch.long)
    sums = torch.zeros(1)
    results = []
    n = 0
    while n < max_new_tokens and len(prefix) > 0:
        scores = sums.unsqueeze(1) + step(prefix).log_softmax(dim=1)
        vocab = scores.size(1)
        sums, flat = scores.view(-1).topk(min(beam_size, scores.numel()))
        row = torch.div(flat, vocab, rounding_mode="floor")
        token = flat % vocab
        prefix = torch.cat([prefix[row], token.unsqueeze(1)], dim=1)
        n += 1
        is_end = token == end_id
        for p, s in zip(prefix[is_end], sums[is_end]):
            results.append((p.tolist(), (s / p.numel() ** length_penalty).item()))
        prefix, sums = prefix[~is_end], sums[~is_end]
    for p, s in zip(prefix, sums):
        results.append((p.tolist(), (s / len(p) ** length_penalty).item()))
    results.sort(key=lambda t: t[1], reverse=True)
    return results[:beam_size]
