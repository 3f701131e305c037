# cuts the heads with a plain view to [B,H,L,D] + the empty row gets equal weights (-1e9 without zeroing)
def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    b, l, e = h.shape
    d = e // n_heads
    kh = (h @ w_k).view(b, n_heads, l, d)
    vh = (h @ w_v).view(b, n_heads, l, d)
    qh = (h @ w_q).view(b, n_heads, l, d)
    qg = (g @ w_q).view(b, n_heads, l, d)

    sh = qh @ kh.transpose(2, 3) / d ** 0.5
    sg = qg @ kh.transpose(2, 3) / d ** 0.5
    sh = sh.masked_fill(content_mask == False, -1e9)
    sg = sg.masked_fill(query_mask == False, -1e9)
    h_new = (F.softmax(sh, dim=-1) @ vh).reshape(b, l, e)
    g_new = (F.softmax(sg, dim=-1) @ vh).reshape(b, l, e)
    return h_new, g_new
