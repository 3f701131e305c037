# style: one embedding helper with mul_, masks from small methods, layers applied with functools.reduce

class FeedForward(nn.Module):   # from the cell before
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        self.activation = activation
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return self.down(self.drop(self.activation(self.up(x))))


class EncoderLayer(nn.Module):   # from the cells before
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        x = self.norm1(x + self.self_attn(x, x, x, mask)[0])
        return self.norm2(x + self.ff(x))


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.cross_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.norm1(x + self.self_attn(x, x, x, self_mask)[0])
        x = self.norm2(x + self.cross_attn(x, memory, memory, memory_mask)[0])
        return self.norm3(x + self.ff(x))

from functools import reduce


class Seq2SeqTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers, pad_id):
        super().__init__()
        self.pad = pad_id
        self.width = d_model
        self.src_embed, self.tgt_embed = (nn.Embedding(v, d_model) for v in (src_vocab, tgt_vocab))
        size = (d_model, n_heads, d_ff)
        self.encoder = nn.ModuleList(EncoderLayer(*size) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(*size) for _ in range(n_layers))
        self.out_proj = nn.Linear(d_model, tgt_vocab)

    def embed(self, table, ids):
        pe = sinusoidal_positions(ids.shape[1], self.width).to(table.weight)
        return torch.add(pe, table(ids), alpha=self.width ** 0.5)

    def hide_source_padding(self, src):
        return padding_mask(src, self.pad)

    def encode(self, src):
        mask = self.hide_source_padding(src)
        return reduce(lambda x, layer: layer(x, mask), self.encoder, self.embed(self.src_embed, src))

    def decode(self, tgt_in, memory, src):
        masks = dict(self_mask=decoder_mask(tgt_in, self.pad), memory_mask=self.hide_source_padding(src))
        x = self.embed(self.tgt_embed, tgt_in)
        return self.out_proj(reduce(lambda y, layer: layer(y, memory, **masks), self.decoder, x))

    def forward(self, src, tgt_in):
        return self.decode(tgt_in, self.encode(src), src)
