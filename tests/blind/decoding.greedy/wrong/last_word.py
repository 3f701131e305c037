# gives step only the last word of each row instead of the whole prefix
def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    out = start_ids.unsqueeze(1)
    over = torch.zeros(len(start_ids), dtype=torch.bool, device=start_ids.device)
    for i in range(max_new_tokens):
        last = out[:, -1:]
        probs = torch.softmax(step(last), dim=-1)
        word = probs.topk(1, dim=-1).indices.squeeze(-1)
        word[over] = pad_id
        over = over | (word == end_id)
        out = torch.hstack([out, word.unsqueeze(1)])
        if over.sum() == len(over):
            return out
    return out
