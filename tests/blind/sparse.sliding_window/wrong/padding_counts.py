# the zero keys beyond both ends of the text take part in the softmax with score 0
def sliding_window_attention(q, k, v, window):
    w = window // 2
    k_pad = F.pad(k, (0, 0, w, w)).unfold(1, 2 * w + 1, 1)          # [B,L,D,W]
    v_pad = F.pad(v, (0, 0, w, w)).unfold(1, 2 * w + 1, 1)          # [B,L,Dv,W]
    att = torch.einsum("bld,bldw->blw", q, k_pad) / math.sqrt(q.size(-1))
    att = F.softmax(att, dim=-1)
    return torch.einsum("blw,bldw->bld", att, v_pad)
