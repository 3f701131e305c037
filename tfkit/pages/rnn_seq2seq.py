"""RNNsearch (Bahdanau et al. 2015, arXiv:1409.0473): translation by recurrent networks with attention.

Adds to recurrent sequence-to-sequence models (Sutskever et al. 2014; Cho et al. 2014): attention. There, the encoder's
last state carries the whole sentence; here, each step of the decoder looks back at all encoder states, and a small
network scores how well each fits the decoder's state. The readout tanh(W [context; state]) is Luong's (2015).

Shapes: B sentences, S tokens of the source, T of the target, E = d_embed, H = d_hidden, V = vocab_size.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


@dataclass(frozen=True)
class Config:
    vocab_size: int = 30000
    d_embed: int = 620
    d_hidden: int = 1000
    decoder_start_token_id: int = 1


class AdditiveAttention(nn.Module):
    """score(state, key) = w · tanh(W state + U key)"""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.query = nn.Linear(c.d_hidden, c.d_hidden, bias=False)
        self.key = nn.Linear(2 * c.d_hidden, c.d_hidden, bias=False)
        self.score = nn.Linear(c.d_hidden, 1, bias=False)
        self.combine = nn.Linear(3 * c.d_hidden, c.d_hidden, bias=False)

    def forward(self, state: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        """state [B,H]: the query, memory [B,S,2H]: the keys and values, mask bool [B,S] -> context [B,2H]"""
        hidden = torch.tanh(self.query(state)[:, None] + self.key(memory))  # [B,S,H]
        scores = self.score(hidden).squeeze(-1)  # [B,S]
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,S], each row sums to 1
        return (weights[:, None] @ memory).squeeze(1)  # [B,2H]

    def readout(self, state: Tensor, context: Tensor) -> Tensor:
        """state [B,H], context [B,2H] -> [B,H], from which the next token is predicted"""
        return torch.tanh(self.combine(torch.cat([context, state], dim=-1)))  # [B,H]


class RNNSeq2Seq(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config = c
        self.src_embed = nn.Embedding(c.vocab_size, c.d_embed)
        self.tgt_embed = nn.Embedding(c.vocab_size, c.d_embed)
        self.encoder = nn.GRU(c.d_embed, c.d_hidden, batch_first=True, bidirectional=True)
        self.bridge = nn.ModuleList([nn.Linear(2 * c.d_hidden, c.d_hidden)])
        self.attn = AdditiveAttention(c)
        self.decoder = nn.GRU(c.d_embed + 2 * c.d_hidden, c.d_hidden, batch_first=True)
        self.out_proj = nn.Linear(c.d_hidden, c.vocab_size)

    def encode(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
        """input_ids, attention_mask [B,S], padding on the right -> memory [B,S,2H], the decoder's first state [B,H]"""
        x = self.src_embed(input_ids)  # [B,S,E]
        lengths = attention_mask.sum(1)  # [B]: packed, each sentence ends where its padding begins
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, last = self.encoder(packed)  # last [2,B,H]: of the reading forwards, and of the one backwards
        memory, _ = pad_packed_sequence(states, batch_first=True, total_length=input_ids.size(1))  # [B,S,2H]
        return memory, torch.tanh(self.bridge[0](torch.cat([last[0], last[1]], dim=-1)))  # [B,S,2H], [B,H]

    def step(self, ids: Tensor, state: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """ids [B], state [B,H], memory [B,S,2H], mask bool [B,S] -> logits [B,V] of the next token, new state [B,H]"""
        context = self.attn(state, memory, mask)  # [B,2H]
        x = torch.cat([self.tgt_embed(ids), context], dim=-1)  # [B,E+2H]
        states, _ = self.decoder(x[:, None], state[None])  # [B,1,H]
        state = states[:, 0]  # [B,H]
        return self.out_proj(self.attn.readout(state, context)), state  # [B,V], [B,H]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, decoder_input_ids: Tensor) -> Tensor:
        """input_ids, attention_mask [B,S], decoder_input_ids [B,T] -> logits [B,T,V]"""
        memory, state = self.encode(input_ids, attention_mask)  # [B,S,2H], [B,H]
        steps = []
        for ids in decoder_input_ids.unbind(1):  # a step needs the state of the one before: nothing runs in parallel
            logits, state = self.step(ids, state, memory, attention_mask.bool())  # [B,V], [B,H]
            steps.append(logits)
        return torch.stack(steps, dim=1)  # [B,T,V]

    @torch.no_grad()
    def generate(self, input_ids: Tensor, attention_mask: Tensor, max_new_tokens: int) -> Tensor:
        """input_ids, attention_mask [B,S] -> [B,1+max_new_tokens]: greedy decoding, after the start token"""
        memory, state = self.encode(input_ids, attention_mask)  # [B,S,2H], [B,H]
        ids = torch.full_like(input_ids[:, :1], self.config.decoder_start_token_id)  # [B,1]
        for _ in range(max_new_tokens):
            logits, state = self.step(ids[:, -1], state, memory, attention_mask.bool())  # [B,V], [B,H]
            ids = torch.cat([ids, logits.argmax(-1, keepdim=True)], dim=1)  # [B,T+1]
        return ids


MODEL = RNNSeq2Seq
