# takes the sinks as rows: the first queries, instead of the first keys
def sink_mask(length, window, sinks):
    rows, cols = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    causal = cols <= rows
    in_window = rows - cols < window
    first = rows < sinks
    return causal & (in_window | first)
