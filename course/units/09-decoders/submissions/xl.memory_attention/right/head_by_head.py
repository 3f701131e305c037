import torch


def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    length, past = x.size(1), memory.size(1)
    size = x.size(2) // n_heads
    source = torch.cat((memory.detach(), x), dim=1)
    hidden = torch.triu(torch.ones(length, past + length, device=x.device), past + 1).bool()
    outputs = []
    for head in range(n_heads):
        columns = slice(head * size, (head + 1) * size)
        q, k, v = x @ w_q[:, columns], source @ w_k[:, columns], source @ w_v[:, columns]
        scores = torch.einsum("bqd,bkd->bqk", q, k) / size**0.5
        weights = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
        outputs.append(torch.einsum("bqk,bkd->bqd", weights, v))
    return torch.cat(outputs, dim=-1)
