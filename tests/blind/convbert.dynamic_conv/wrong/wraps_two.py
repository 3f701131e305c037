# wraps around at the ends instead of zeros (torch.roll) + softmax over the positions instead of the W weights
def span_dynamic_conv(value, kernel_logits):
    B, L, W = kernel_logits.shape
    kernel = kernel_logits.softmax(1)
    shifted = [torch.roll(value, W // 2 - w, dims=1) for w in range(W)]
    stacked = torch.stack(shifted, dim=2)              # [B,L,W,D]
    return torch.einsum("blw,blwd->bld", kernel, stacked)
