# lays the words out by falling probability instead of in the order of their ids
def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return torch.argmax(logits, -1)
    probs = F.softmax(logits / temperature, -1)
    sorted_p, sorted_ids = torch.sort(probs, descending=True, dim=-1)
    cum = torch.cumsum(sorted_p, dim=-1)
    hit = (cum > u[:, None]).int().argmax(dim=-1, keepdim=True)
    return sorted_ids.gather(1, hit)[:, 0]
