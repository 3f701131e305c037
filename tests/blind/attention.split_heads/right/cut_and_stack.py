# cuts the columns with split and stacks the pieces; merges with unbind and cat, no reshape
def split_heads(x, heads):
    width = x.shape[-1]
    if width % heads:
        raise ValueError(f"width {width} is not a multiple of {heads} heads")
    return torch.stack(x.split(width // heads, dim=-1), dim=1)


def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)
