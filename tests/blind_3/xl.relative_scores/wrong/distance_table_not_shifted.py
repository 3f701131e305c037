# the second product is a table by distance and is added without relative_shift, as if its columns were keys
def relative_scores(q, k, r, u, v):
    d = q.size(-1)
    a = (q + u.unsqueeze(1)) @ k.transpose(-2, -1)
    b = (q + v.unsqueeze(1)) @ r.transpose(-2, -1)
    return (a + b) / math.sqrt(d)
