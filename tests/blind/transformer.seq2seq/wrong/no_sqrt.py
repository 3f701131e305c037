# the embeddings are not multiplied by sqrt(d_model)
class Seq2SeqTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers, pad_id):
        super().__init__()
        self.d_model = d_model
        self.pad_id = pad_id
        self.src_embed = nn.Embedding(src_vocab, d_model)
        self.tgt_embed = nn.Embedding(tgt_vocab, d_model)
        nn.init.normal_(self.src_embed.weight, 0, d_model ** -0.5)
        nn.init.normal_(self.tgt_embed.weight, 0, d_model ** -0.5)
        self.encoder = nn.ModuleList([EncoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers)])
        self.decoder = nn.ModuleList([DecoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers)])
        self.out_proj = nn.Linear(d_model, tgt_vocab)

    def embed(self, table, ids):
        x = table(ids)
        return x + sinusoidal_positions(ids.size(1), self.d_model).to(x)

    def encode(self, src):
        x = self.embed(self.src_embed, src)
        for layer in self.encoder:
            x = layer(x, padding_mask(src, self.pad_id))
        return x

    def decode(self, tgt_in, memory, src):
        x = self.embed(self.tgt_embed, tgt_in)
        for layer in self.decoder:
            x = layer(x, memory, decoder_mask(tgt_in, self.pad_id), padding_mask(src, self.pad_id))
        return self.out_proj(x)

    def forward(self, src, tgt_in):
        return self.decode(tgt_in, self.encode(src), src)
