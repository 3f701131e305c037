# the square root divides only the content term
def relative_scores(q, k, r, u, v):
    scale = math.sqrt(q.shape[-1])
    term_a = torch.einsum('bhid,bhjd->bhij', q, k)
    term_b = torch.einsum('bhid,hjd->bhij', q, r)
    term_c = torch.einsum('hd,bhjd->bhj', u, k).unsqueeze(2)
    term_d = torch.einsum('hd,hjd->hj', v, r)[None, :, None, :]
    return (term_a + term_c) / scale + relative_shift(term_b + term_d)
