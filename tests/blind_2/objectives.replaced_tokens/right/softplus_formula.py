# closed form softplus(z) - r z, with a weighted sum
def replaced_token_detection_loss(logits, original, corrupted, mask):
    r = torch.ne(original, corrupted).to(logits.dtype)
    # -r log s(z) - (1-r) log(1 - s(z))  ==  softplus(z) - r*z
    every = F.softplus(logits) - r * logits
    w = mask.to(logits.dtype)
    return torch.tensordot(every, w, dims=2) / w.sum().clamp_min(1.0)
