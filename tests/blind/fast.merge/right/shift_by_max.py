# subtracts the larger log-sum-exp, adds the two sums of exps and divides; empty on both sides is guarded
def merge_attention(o1, lse1, o2, lse2):
    top = torch.maximum(lse1, lse2).detach()
    top = torch.where(top == -float("inf"), torch.zeros_like(top), top)
    s1, s2 = torch.exp(lse1 - top), torch.exp(lse2 - top)
    total = s1 + s2
    empty = total == 0
    safe = torch.where(empty, torch.ones_like(total), total)
    o = (s1 / safe).unsqueeze(-1) * o1 + (s2 / safe).unsqueeze(-1) * o2
    lse = torch.where(empty, torch.full_like(total, -float("inf")), top + torch.log(safe))
    return o.to(o1.dtype), lse
