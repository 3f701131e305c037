# the window ends at the position itself: all padding is on the left
def span_dynamic_conv(value, kernel_logits):
    W = kernel_logits.size(-1)
    padded = F.pad(value, (0, 0, W - 1, 0))
    windows = padded.unfold(-2, W, 1)                   # [...,L,D,W]
    return torch.einsum("...ldw,...lw->...ld", windows, kernel_logits.softmax(dim=-1))
