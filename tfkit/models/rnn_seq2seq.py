"""Sequence to sequence with recurrent networks (Sutskever et al. 2014; Cho et al. 2014), with or without attention
(Bahdanau et al. 2015, arXiv:1409.0473; Luong et al. 2015, arXiv:1508.04025).

Parent   none: the earliest architecture here
Differs  attention "none": one vector carries the whole sentence; "dot": each decoder state looks back at all encoder
         states; "bahdanau": so does the state *before* each step, through a small network, and the context is an input
         of the step.
Trained  objectives.label_smoothing with smoothing 0
With "none" and "dot" the decoder runs over all steps in one call; "bahdanau" cannot. The readout, tanh(W [c; s]), is
Luong's for both; Bahdanau's own is a maxout layer. Padding must be on the right.
"""

from typing import Any, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import tracing
from ..nn import Dropout, attend, masked_softmax
from ..nn.state_space import StateCache
from ..objectives.cross_entropy import cross_entropy
from ._base import Model, configuration, to_bool_mask
from ._checks import check_ids, check_rows, check_some_layers, embed_ids
from ._output import Output
from ._seq2seq import decoder_ids

T = TypeVar("T")
CELLS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
CELL_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


@configuration
class Config:
    vocab_size: int = 30000
    d_embed: int = 620
    d_hidden: int = 1000
    n_layers: int = 1
    cell: str = "gru"
    bidirectional: bool = True
    attention: str = "bahdanau"
    dropout: float = 0.0
    label_smoothing: float = 0.0
    pad_token_id: int = 0
    decoder_start_token_id: int = 1
    eos_token_id: int = 2


PRESETS: dict[str, dict[str, Any]] = {
    "rnnsearch": {},
    "rnnencdec": {"bidirectional": False, "attention": "none"},
    "sutskever2014": {
        "vocab_size": 160000, "d_embed": 1000, "d_hidden": 1000, "n_layers": 4, "cell": "lstm",
        "bidirectional": False, "attention": "none",
    },
}  # fmt: skip


def rnn_cell(x: Tensor, state: tuple[Tensor, ...], w_x: Tensor, w_h: Tensor, b_x: Tensor, b_h: Tensor) -> list[Tensor]:
    """One step of nn.RNN, in operations that a compiler knows on every device, here and below: x [B,·], parts of the
    state [B,H], weights as torch has them -> the parts of the new state"""
    return [torch.tanh(F.linear(x, w_x, b_x) + F.linear(state[0], w_h, b_h))]


def gru_cell(x: Tensor, state: tuple[Tensor, ...], w_x: Tensor, w_h: Tensor, b_x: Tensor, b_h: Tensor) -> list[Tensor]:
    """One step of nn.GRU. torch's own cell is one kernel on a GPU, of which the compiler knows no shape."""
    reset_x, update_x, new_x = F.linear(x, w_x, b_x).chunk(3, dim=-1)
    reset_h, update_h, new_h = F.linear(state[0], w_h, b_h).chunk(3, dim=-1)
    new = torch.tanh(new_x + torch.sigmoid(reset_x + reset_h) * new_h)
    return [new + torch.sigmoid(update_x + update_h) * (state[0] - new)]


def lstm_cell(x: Tensor, state: tuple[Tensor, ...], w_x: Tensor, w_h: Tensor, b_x: Tensor, b_h: Tensor) -> list[Tensor]:
    """One step of nn.LSTM."""
    read, forget, new, out = (F.linear(x, w_x, b_x) + F.linear(state[0], w_h, b_h)).chunk(4, dim=-1)
    memory = torch.sigmoid(forget) * state[1] + torch.sigmoid(read) * torch.tanh(new)
    return [torch.sigmoid(out) * torch.tanh(memory), memory]


CELL_FUNCTIONS = {"rnn": rnn_cell, "gru": gru_cell, "lstm": lstm_cell}


class NoAttention(nn.Module):
    def __init__(self, d_hidden: int, d_memory: int) -> None:
        super().__init__()

    def readout(self, states: Tensor, context: Tensor | None) -> Tensor:
        """states [B,T,H], unchanged; there is no context"""
        return states


class DotAttention(nn.Module):
    """score(s, h) = s · W h; W is needed because a bidirectional encoder's states are twice as wide."""

    def __init__(self, d_hidden: int, d_memory: int) -> None:
        super().__init__()
        self.key = nn.Linear(d_memory, d_hidden, bias=False)
        self.combine = nn.Linear(d_memory + d_hidden, d_hidden, bias=False)

    def forward(self, states: Tensor, keys: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        """states [B,T,H], keys [B,S,H], memory [B,S,M], mask bool [B,S] or None -> context [B,T,M]"""
        mask = None if mask is None else mask[:, None, None]
        return attend(states[:, None], keys[:, None], memory[:, None], mask=mask, scale=1.0).squeeze(1)

    def readout(self, states: Tensor, context: Tensor) -> Tensor:
        """states [B,T,H], context [B,T,M] -> [B,T,H]: Luong's attentional vector"""
        return torch.tanh(self.combine(torch.cat([context, states], -1)))


class AdditiveAttention(DotAttention):
    """score(s, h) = v · tanh(W s + U h)"""

    def __init__(self, d_hidden: int, d_memory: int) -> None:
        super().__init__(d_hidden, d_memory)
        self.query = nn.Linear(d_hidden, d_hidden, bias=False)
        self.score = nn.Linear(d_hidden, 1, bias=False)

    def forward(self, states: Tensor, keys: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        hidden = torch.tanh(self.query(states)[:, :, None] + keys[:, None])  # [B,T,S,H]
        scores = self.score(hidden).squeeze(-1)  # [B,T,S]
        weights = scores.softmax(-1) if mask is None else masked_softmax(scores, mask[:, None])
        if tracing.is_observed():
            weights = tracing.offer("weights", weights[:, None])[:, 0]  # as one head
        return weights @ memory


ATTENTIONS = {"none": NoAttention, "dot": DotAttention, "bahdanau": AdditiveAttention}


class State(StateCache):
    """The cache of a recurrent decoder, which does not grow. state [B,parts,layers,H] (LSTM: 2 parts)."""

    def __init__(self, state: Tensor) -> None:
        super().__init__()
        self.state = state

    def tensors(self) -> list[Tensor]:
        return [self.state]

    def replace(self, state: Tensor) -> None:
        """Keeps the state after a call; a graph writes it into the tensor that it was given."""
        if torch.compiler.is_compiling():
            self.state.copy_(state)
        else:
            self.state = state

    def reorder(self, index: Tensor) -> None:
        self.state = self.state.index_select(0, index)


def lengths_of(mask: Tensor) -> Tensor:
    """mask bool [B,S] -> the number of tokens in each row, int64 [B] on the CPU, where packed sequences need it. Raises
    ValueError unless all padding is on the right."""
    wrong = (mask[:, 1:] & ~mask[:, :-1]).sum(1)
    lengths, misplaced = torch.stack([mask.sum(1), wrong]).cpu()  # the only values that are read from the device
    if misplaced.any():
        raise ValueError("attention_mask: a recurrent encoder needs its padding on the right")
    return lengths


def pick(what: str, name: str, table: dict[str, T]) -> T:
    """table[name]; raises ValueError with all names for an unknown one."""
    if name not in table:
        raise ValueError(f"{what}={name!r}; available: {', '.join(table)}")
    return table[name]


class RNNSeq2Seq(Model):
    HEADS = (None, "seq2seq_lm")

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        check_some_layers(config)
        c, cell = config, pick("cell", config.cell, CELLS)
        d_memory = c.d_hidden * (2 if c.bidirectional else 1)
        self.src_embed = nn.Embedding(c.vocab_size, c.d_embed)
        self.tgt_embed = nn.Embedding(c.vocab_size, c.d_embed)
        self.drop = Dropout(c.dropout)
        self.encoder = cell(c.d_embed, c.d_hidden, c.n_layers, batch_first=True, bidirectional=c.bidirectional)
        self.bridge = nn.ModuleList(nn.Linear(d_memory, c.d_hidden) for _ in range(2 if c.cell == "lstm" else 1))
        self.attn: Any = pick("attention", c.attention, ATTENTIONS)(c.d_hidden, d_memory)
        fed = d_memory if c.attention == "bahdanau" else 0
        self.decoder = cell(c.d_embed + fed, c.d_hidden, c.n_layers, batch_first=True)
        self.out_proj = nn.Linear(c.d_hidden, c.vocab_size) if head else None

    def fixed_cache(self, capacity: int, non_padding: Tensor | None) -> None:
        """None: the first call makes the `State`, which does not grow, from the encoded source."""

    def encode(self, input_ids: Tensor | None, attention_mask: Tensor | None = None) -> Output:
        """input_ids [B,S], attention_mask [B,S] (padding on the right) -> Output with last_hidden_state [B,S,M] and
        state [B,parts,layers,H], the decoder's initial state"""
        batch, length = check_ids("input_ids", input_ids).shape
        mask = to_bool_mask("attention_mask", attention_mask, (batch, length))
        x = self.drop(embed_ids(self.src_embed, input_ids, "input_ids"))
        if mask is None:
            memory, last = self.encoder(x)
        else:
            lengths = lengths_of(mask).clamp(min=1)  # packed: the state stops at the last token before padding
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            memory, last = self.encoder(packed)
            memory, _ = nn.utils.rnn.pad_packed_sequence(memory, batch_first=True, total_length=length)
        return Output(last_hidden_state=memory, state=self.initial_decoder_state(last, batch))

    def initial_decoder_state(self, last: Tensor, batch: int) -> Tensor:
        """The encoder's last states, both directions concatenated -> the decoder's initial state [B,parts,layers,H]"""
        parts = last if isinstance(last, tuple) else (last,)
        split = (self.config.n_layers, -1)  # torch keeps [layers·directions,B,H]
        rows = [part.unflatten(0, split).permute(2, 0, 1, 3).flatten(2) for part in parts]  # [B,layers,M] each
        return torch.stack([torch.tanh(w(row)) for w, row in zip(self.bridge, rows, strict=True)], 1)

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """x [B,T,·], state [B,parts,layers,H] -> states [B,T,H], the new state"""
        if torch.compiler.is_compiling():
            return self.step_in_graph(x, state)
        parts = tuple(part.transpose(0, 1).contiguous() for part in state.unbind(1))
        states, last = self.decoder(x, parts if len(parts) == 2 else parts[0])
        last = last if isinstance(last, tuple) else (last,)
        return states, torch.stack([part.transpose(0, 1) for part in last], 1)

    def step_in_graph(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """As `step`, cell by cell: torch's recurrent layers cannot be part of a graph."""
        cell = CELL_FUNCTIONS[self.config.cell]
        layers, out = list(state.unbind(2)), []  # [B,parts,H] each
        for y in x.unbind(1):
            for i, held in enumerate(layers):
                weights = [getattr(self.decoder, f"{name}_l{i}") for name in CELL_WEIGHTS]
                layers[i] = torch.stack(cell(y, held.unbind(1), *weights), 1)
                y = layers[i][:, 0]
            out.append(y)
        return torch.stack(out, 1), torch.stack(layers, 2)

    def decode(self, ids: Tensor, memory: Tensor, state: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """ids [B,T], memory [B,S,M], mask bool [B,S] or None -> [B,T,H], the new state"""
        x = self.drop(embed_ids(self.tgt_embed, ids, "decoder_input_ids"))
        if self.config.attention == "none":
            return self.step(x, state)
        keys = self.attn.key(memory)
        if self.config.attention == "dot":
            states, state = self.step(x, state)
            return self.attn.readout(states, self.attn(states, keys, memory, mask)), state
        out = []
        for y in x.split(1, dim=1):  # the input of step t depends on the state after step t - 1
            context = self.attn(state[:, 0, -1:], keys, memory, mask)
            states, state = self.step(torch.cat([y, context], -1), state)
            out.append(self.attn.readout(states, context))
        return torch.cat(out, 1), state

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        encoder_outputs: Output | None = None,
        cache: State | None = None,
        use_cache: bool = False,
    ) -> Output:
        """input_ids [B,S], decoder_input_ids [B,T] or labels [B,T] (-100: not counted) -> Output: loss, logits [B,T,V],
        last_hidden_state [B,T,H], encoder_last_hidden_state [B,S,M], cache. Raises ValueError for invalid inputs."""
        self.require_head(labels)
        ids = decoder_ids(self.config, decoder_input_ids, labels)
        memory = self.encode(input_ids, attention_mask) if encoder_outputs is None else encoder_outputs
        if not isinstance(memory, Output):
            raise TypeError("encoder_outputs must be what encode() returned: it also holds the decoder's first state")
        check_rows(ids, memory.last_hidden_state)
        mask = to_bool_mask("attention_mask", attention_mask, memory.last_hidden_state.shape[:2])
        cache = State(memory.state) if cache is None else cache
        if len(cache.state) != len(ids):
            raise ValueError(
                f"the cache holds {len(cache.state)} rows, the input has {len(ids)}: "
                "start each generation with a new cache"
            )
        x, state = self.decode(ids, memory.last_hidden_state, cache.state, mask)
        cache.replace(state)
        if not torch.compiler.is_compiling():
            cache.advance_length(ids.size(1))
        logits = None if self.out_proj is None else self.out_proj(x)
        loss = None if labels is None or logits is None else cross_entropy(logits, labels, self.config.label_smoothing)
        return Output(
            loss=loss, logits=logits, last_hidden_state=x,
            encoder_last_hidden_state=memory.last_hidden_state, cache=cache if use_cache else None,
        )  # fmt: skip


MODEL = RNNSeq2Seq
