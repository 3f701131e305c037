# no division by sqrt(D) + tokens after the end get score 0, which is an ordinary score
def paged_attention(q, key_pages, value_pages, tables, lengths):
    B, H, D = q.shape
    P, S = key_pages.shape[:2]
    keys = key_pages[tables.clamp(min=0)].view(B, -1, H, D).transpose(1, 2)
    values = value_pages[tables.clamp(min=0)].view(B, -1, H, D).transpose(1, 2)
    scores = (q.unsqueeze(2) * keys).sum(-1)
    real = torch.arange(scores.shape[-1]).unsqueeze(0) < lengths.unsqueeze(1)
    scores = scores * real.unsqueeze(1)
    weights = F.softmax(scores, dim=-1)
    return (weights.unsqueeze(-1) * values).sum(2)
