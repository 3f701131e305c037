# [layer] * n_layers: every layer of a stack is one and the same module
class Seq2SeqTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers, pad_id):
        super().__init__()
        self.pad_id, self.d_model = pad_id, d_model
        self.src_embed = nn.Embedding(src_vocab, d_model)
        self.tgt_embed = nn.Embedding(tgt_vocab, d_model)
        with torch.no_grad():
            self.src_embed.weight.div_(d_model ** 0.5)
            self.tgt_embed.weight.div_(d_model ** 0.5)
        self.encoder = nn.ModuleList([EncoderLayer(d_model, n_heads, d_ff)] * n_layers)
        self.decoder = nn.ModuleList([DecoderLayer(d_model, n_heads, d_ff)] * n_layers)
        self.out_proj = nn.Linear(d_model, tgt_vocab)

    def embed(self, table, ids):
        pos = sinusoidal_positions(ids.shape[1], self.d_model).to(table.weight)
        return table(ids) * self.d_model ** 0.5 + pos

    def encode(self, src):
        x, src_mask = self.embed(self.src_embed, src), self.mask_of(src)
        for enc in self.encoder:
            x = enc(x, src_mask)
        return x

    def mask_of(self, ids):
        return (ids != self.pad_id)[:, None, None]

    def decode(self, tgt_in, memory, src):
        n = tgt_in.shape[1]
        tril = torch.ones(n, n, dtype=torch.bool, device=tgt_in.device).tril()
        x = self.embed(self.tgt_embed, tgt_in)
        for dec in self.decoder:
            x = dec(x, memory, self.mask_of(tgt_in) & tril, self.mask_of(src))
        return self.out_proj(x)

    def forward(self, src, tgt_in):
        return self.decode(tgt_in, self.encode(src), src)
