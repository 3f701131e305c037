# hidden scores become 0 instead of -inf + softmax over the first axis instead of the last
def masked_softmax(scores, mask):
    s = scores * mask
    return F.softmax(s, dim=0)
