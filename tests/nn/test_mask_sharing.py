"""What layers derive from a mask is computed once, and again if the mask is another one or was changed in place."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.models.table import ROWS, drawn
from tests.models.test_laws import make
from tfkit.models._base import to_padding_mask
from tfkit.nn import attend, attend_by_hand, mask_sharing
from tfkit.nn.mask_sharing import once_per_mask


class MaskCounter(TorchDispatchMode):
    """Counts tensors as large as a mask [L,L] or [B,1,L,L] that are made; scores [B,H,L,L] are not counted."""

    def __init__(self, length):
        super().__init__()
        self.length, self.made = length, []

    def __torch_dispatch__(self, operation, types, given=(), named=None):
        out = operation(*given, **(named or {}))
        if isinstance(out, torch.Tensor) and not (operation.is_view or operation._schema.is_mutable):
            square = out.shape[-2:] == (self.length, self.length)
            if square and (out.dim() == 2 or all(size == 1 for size in out.shape[1:-2])) and out.dim() != 3:
                self.made.append(operation._schema.name)
        return out


def made(name, layers, train):
    row = ROWS[name]
    fields = {field: layers for field in ("n_layers", "n_decoder_layers") if field in row.fields}
    if name == "gpt_neo":
        fields["attention_types"] = [[["global", "local"], layers // 2]]
    row, model = make(name, **fields)
    ids, mask = drawn(3, row.length), torch.ones(3, row.length, dtype=torch.long)
    mask[1, -2:] = 0
    given = row.inputs(model.train(train), ids, mask)
    with MaskCounter(row.length) as counter, torch.set_grad_enabled(train):
        model(**given)
    return counter.made


@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if "n_layers" in row.fields])
def test_more_layers_make_no_more_masks(name, train):
    assert sorted(made(name, 4, train)) == sorted(made(name, 2, train))


def test_the_counter_counts():
    with MaskCounter(5) as counter:
        for _layer in range(3):
            torch.ones(5, 5, dtype=torch.bool).tril() & torch.ones(2, 1, 1, 5, dtype=torch.bool)
    assert len(counter.made) == 9


def ask(mask, **how):
    q, k, v = (torch.randn(2, 2, 5, 4, generator=torch.Generator().manual_seed(seed)) for seed in range(3))
    torch.testing.assert_close(attend(q, k, v, mask=mask, **how), attend_by_hand(q, k, v, mask=mask, **how)[0])


@pytest.mark.parametrize("how", [{}, {"causal": True}, {"bias": torch.randn(1, 2, 5, 5)}])
@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
def test_a_mask_that_was_written_into_counts_as_it_is_now(how, mode):
    with mode():
        mask = torch.ones(2, 1, 1, 5, dtype=torch.bool)
        ask(mask, **how)
        mask[0, ..., 3:] = False
        ask(mask, **how)
        if "bias" in how:
            ask(mask, bias=how["bias"] + 1.0)
            ask(~mask, **how)


def test_nothing_outlives_its_mask():
    mask = torch.ones(2, 1, 1, 5, dtype=torch.bool)
    mask[0, ..., 4] = False
    ask(mask, causal=True)
    assert mask in mask_sharing._results
    before = len(mask_sharing._results)
    del mask
    assert len(mask_sharing._results) < before


def test_what_has_a_gradient_is_made_each_time():
    bias = torch.zeros(3, requires_grad=True)
    assert once_per_mask(bias, "twice", lambda: bias * 2) is not once_per_mask(bias, "twice", lambda: bias * 2)
    mask = bias.detach()
    assert once_per_mask(mask, "twice", lambda: mask * 2) is once_per_mask(mask, "twice", lambda: mask * 2)


@pytest.mark.parametrize("kind", [torch.bool, torch.long])
def test_a_mask_of_ones_is_no_mask(kind):
    ones = torch.ones(2, 3, dtype=kind)
    assert to_padding_mask("attention_mask", ones, (2, 3)) is None
    ones[1, 2] = 0
    assert to_padding_mask("attention_mask", ones, (2, 3)).tolist() == [[True, True, True], [True, True, False]]
    assert to_padding_mask("attention_mask", torch.ones(2, 3, dtype=kind, device="meta"), (2, 3)) is not None
