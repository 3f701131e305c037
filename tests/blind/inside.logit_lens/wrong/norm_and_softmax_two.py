# divides by the length (sum of the squares, not the mean) + returns log-probabilities instead of logits
def logit_lens(states, gain, unembed, eps=1e-6):
    unit = states / (states.norm(dim=-1, keepdim=True) + eps)
    scores = torch.matmul(gain * unit, unembed.transpose(0, 1))
    return torch.log_softmax(scores, dim=-1)
