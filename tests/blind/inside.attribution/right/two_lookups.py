# F.embedding for the two rows, then a batched matrix product per position: [B,L,C,E] with [B,L,E,1]
def direct_attribution(parts, unembed, target, rival):
    towards = F.embedding(target, unembed) - F.embedding(rival, unembed)        # [B,L,E]
    by_position = parts.permute(1, 2, 0, 3)                                     # [B,L,C,E]
    shares = torch.matmul(by_position, towards.unsqueeze(-1)).squeeze(-1)       # [B,L,C]
    return shares.permute(2, 0, 1)
