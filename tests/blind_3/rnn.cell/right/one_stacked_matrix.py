# input and state side by side, weights stacked, a single addmm
def rnn_cell(x, h, w_x, w_h, b):
    xh = torch.cat((x, h), dim=1)          # [B, E+H]
    w = torch.cat((w_x, w_h), dim=0)       # [E+H, H]
    return torch.addmm(b, xh, w).tanh()
