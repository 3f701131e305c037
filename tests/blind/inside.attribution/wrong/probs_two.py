# probabilities after a softmax instead of logits + the rival minus the target
def direct_attribution(parts, unembed, target, rival):
    out = []
    for x in parts:
        p = torch.softmax(x @ unembed.t(), dim=-1)
        p_target = torch.gather(p, 2, target[:, :, None])
        p_rival = torch.gather(p, 2, rival[:, :, None])
        out.append((p_rival - p_target)[..., 0])
    return torch.stack(out)
