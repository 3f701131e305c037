# both masks written out by comparison, helper methods for the two stacks, embeddings start with variance 1/d
class Seq2SeqTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers, pad_id):
        super().__init__()
        self.pad_id = pad_id
        self.src_embed = self._table(src_vocab, d_model)
        self.tgt_embed = self._table(tgt_vocab, d_model)
        self.encoder = nn.ModuleList()
        self.decoder = nn.ModuleList()
        for _ in range(n_layers):
            self.encoder.append(EncoderLayer(d_model, n_heads, d_ff))
            self.decoder.append(DecoderLayer(d_model, n_heads, d_ff))
        self.out_proj = nn.Linear(d_model, tgt_vocab)

    @staticmethod
    def _table(rows, width):
        table = nn.Embedding(rows, width)
        nn.init.normal_(table.weight, std=1 / math.sqrt(width))
        return table

    def _visible(self, ids):
        return ids.ne(self.pad_id)[:, None, None, :]

    def embed(self, table, ids):
        x = table(ids)
        width = x.shape[-1]
        return math.sqrt(width) * x + sinusoidal_positions(ids.shape[1], width).to(x)

    def encode(self, src):
        mask = self._visible(src)
        state = self.embed(self.src_embed, src)
        for layer in self.encoder:
            state = layer(state, mask)
        return state

    def decode(self, tgt_in, memory, src):
        steps = torch.arange(tgt_in.shape[1], device=tgt_in.device)
        past = steps[None, :] <= steps[:, None]
        self_mask = self._visible(tgt_in) & past
        cross_mask = self._visible(src)
        state = self.embed(self.tgt_embed, tgt_in)
        for layer in self.decoder:
            state = layer(state, memory, self_mask, cross_mask)
        return self.out_proj(state)

    def forward(self, src, tgt_in):
        return self.decode(tgt_in, self.encode(src), src)
