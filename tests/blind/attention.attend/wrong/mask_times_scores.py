# multiplies the scores by the mask, so that a masked word has score 0 and keeps a share
def attend(query, keys, mask):
    e = torch.einsum('bh,bsh->bs', query, keys)
    e = e * mask.float()
    a = F.softmax(e, dim=1)
    a = a * mask.any(1, keepdim=True)
    c = torch.einsum('bs,bsh->bh', a, keys)
    return c, a
