# finished rows are not filled with pad_id: they go on writing until the last row is finished
def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    seqs = start_ids.view(-1, 1)
    ended = [False] * seqs.shape[0]
    n = 0
    while n < max_new_tokens and not all(ended):
        tokens = step(seqs).max(dim=-1).indices
        seqs = torch.cat([seqs, tokens.view(-1, 1)], 1)
        ended = [e or tok == end_id for e, tok in zip(ended, tokens.tolist())]
        n += 1
    return seqs
