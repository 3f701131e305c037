# returns the softmax (probabilities) instead of the logits
def logit_lens(states, gain, unembed, eps=1e-6):
    rms = torch.sqrt((states ** 2).mean(-1, keepdim=True) + eps)
    logits = (states / rms * gain) @ unembed.T
    return F.softmax(logits, dim=-1)
