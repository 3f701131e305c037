# the cross-attention gets no mask and sees the source's padding
class Seq2SeqTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers, pad_id):
        super().__init__()
        self.pad_id = pad_id
        self.scale = math.sqrt(d_model)
        self.src_embed = nn.Embedding(src_vocab, d_model)
        self.tgt_embed = nn.Embedding(tgt_vocab, d_model)
        for emb in (self.src_embed, self.tgt_embed):
            emb.weight.data.normal_(std=1 / self.scale)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers))
        self.out_proj = nn.Linear(d_model, tgt_vocab)

    def embed(self, table, ids):
        e = table(ids) * self.scale
        p = sinusoidal_positions(e.shape[1], e.shape[2]).to(e.device, e.dtype)
        return e + p.unsqueeze(0)

    def encode(self, src):
        keep = (src != self.pad_id).unsqueeze(1).unsqueeze(2)
        h = self.embed(self.src_embed, src)
        for block in self.encoder:
            h = block(h, keep)
        return h

    def decode(self, tgt_in, memory, src):
        T = tgt_in.shape[1]
        keep = (tgt_in != self.pad_id).unsqueeze(1).unsqueeze(2)
        keep = keep & causal_mask(T).to(tgt_in.device)
        h = self.embed(self.tgt_embed, tgt_in)
        for block in self.decoder:
            h = block(h, memory, keep, None)
        return self.out_proj(h)

    def forward(self, src, tgt_in):
        memory = self.encode(src)
        return self.decode(tgt_in, memory, src)
