# the positions are multiplied by sqrt(d_model) too + returns log-probabilities instead of logits
class Seq2SeqTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers, pad_id):
        super().__init__()
        self.d_model = d_model
        self.pad = pad_id
        self.src_embed = nn.Embedding(src_vocab, d_model)
        self.tgt_embed = nn.Embedding(tgt_vocab, d_model)
        nn.init.normal_(self.src_embed.weight, std=d_model ** -0.5)
        nn.init.normal_(self.tgt_embed.weight, std=d_model ** -0.5)
        enc, dec = [], []
        for i in range(n_layers):
            enc.append(EncoderLayer(d_model, n_heads, d_ff))
            dec.append(DecoderLayer(d_model, n_heads, d_ff))
        self.encoder, self.decoder = nn.ModuleList(enc), nn.ModuleList(dec)
        self.out_proj = nn.Linear(d_model, tgt_vocab)

    def embed(self, table, ids):
        x = table(ids)
        x = x + sinusoidal_positions(x.shape[1], self.d_model).to(x)
        return x * math.sqrt(self.d_model)

    def encode(self, src):
        src_mask = (src != self.pad).view(src.shape[0], 1, 1, -1)
        out = self.embed(self.src_embed, src)
        for layer in self.encoder:
            out = layer(out, src_mask)
        return out

    def decode(self, tgt_in, memory, src):
        src_mask = (src != self.pad).view(src.shape[0], 1, 1, -1)
        tgt_mask = (tgt_in != self.pad).view(tgt_in.shape[0], 1, 1, -1)
        tgt_mask = tgt_mask & causal_mask(tgt_in.shape[1]).to(tgt_in.device)
        out = self.embed(self.tgt_embed, tgt_in)
        for layer in self.decoder:
            out = layer(out, memory, tgt_mask, src_mask)
        return F.log_softmax(self.out_proj(out), dim=-1)

    def forward(self, src, tgt_in):
        return self.decode(tgt_in, self.encode(src), src)
