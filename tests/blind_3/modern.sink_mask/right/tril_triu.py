# style: a band cut out with tril and triu, then the first columns of the triangle put back
def sink_mask(length, window, sinks):
    triangle = torch.ones((length, length), dtype=torch.bool).tril()
    band = triangle.triu(1 - window)
    band[:, :sinks] = triangle[:, :sinks]
    return band
