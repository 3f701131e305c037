# sigmoid instead of tanh + the bias is multiplied by x's part instead of added
def rnn_cell(x, h, w_x, w_h, b):
    z = torch.einsum("be,eh->bh", x, w_x) * b
    z = z + torch.einsum("bh,hk->bk", h, w_h)
    return 1 / (1 + torch.exp(-z))
