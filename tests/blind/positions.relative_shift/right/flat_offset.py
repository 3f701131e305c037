# pads on the right, and reads the flattened table again from an offset with a row length one shorter
def relative_shift(scores):
    batch, heads, q, r = scores.shape
    wide = F.pad(scores, (0, q)).flatten(2)               # rows of r + q
    step = r + q - 1                                      # so that every row starts one place further left
    flat = wide[:, :, q - 1:q - 1 + q * step]
    return flat.reshape(batch, heads, q, step)[..., :r]
