# style: one difference direction per position, then a loop over the parts
def direct_attribution(parts, unembed, target, rival):
    up = F.embedding(target, unembed)
    down = F.embedding(rival, unembed)
    direction = up - down  # [B,L,E]
    shares = []
    for part in parts:
        shares.append((part * direction).sum(dim=-1))
    return torch.stack(shares, dim=0)
