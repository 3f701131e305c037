# looks for end_id in the whole prefix: where the start symbol is the end symbol, rows are finished before they begin
def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    out = start_ids.unsqueeze(1)
    for t in range(max_new_tokens):
        finished = (out == end_id).any(dim=1)
        if finished.all():
            break
        logits = step(out)
        new = torch.argmax(logits, dim=1)
        new[finished] = pad_id
        out = torch.cat((out, new.unsqueeze(1)), dim=1)
    return out
