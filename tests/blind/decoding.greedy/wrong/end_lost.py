# marks a row as finished before it writes, so that the end_id itself is overwritten by pad_id
def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    columns = [start_ids]
    finished = torch.zeros_like(start_ids, dtype=torch.bool)
    for _ in range(max_new_tokens):
        logits = step(torch.stack(columns, dim=1))
        token = torch.argmax(logits, dim=-1)
        finished |= token == end_id
        token = token.masked_fill(finished, pad_id)
        columns.append(token)
        if finished.all():
            break
    return torch.stack(columns, dim=1)
