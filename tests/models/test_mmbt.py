"""MMBT gives what transformers 4.30.2 gave (fixtures, and the script that made them); and it sees pictures."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import tfkit
from tfkit.hub.loading import shapes_only
from tfkit.nn.resnet import ResNet

hf = pytest.importorskip("transformers")
FIXTURES = Path(__file__).parent / "fixtures"
TEXT = {"architecture": "bert", "vocab_size": 30, "d_model": 12, "n_layers": 2, "n_heads": 3, "d_ff": 16}
TEXT |= {"max_length": 14, "n_types": 3}
CASES = {"states": (None, 2), "classes": ("sequence_classification", 4), "number": ("sequence_classification", 1)}
CLOSE = {torch.float32: {"rtol": 1e-4, "atol": 1e-5}, torch.float64: {"rtol": 1e-9, "atol": 1e-9}}


def fixture(name):
    """-> four dictionaries: weight, in, out, grad"""
    found = {kind: {} for kind in ("weight", "in", "out", "grad")}
    for key, tensor in load_file(FIXTURES / f"mmbt_{name}.safetensors").items():
        kind, _, rest = key.partition(".")
        found[kind][rest] = tensor
    return found.values()


def model(name, weights):
    head, labels = CASES[name]
    made = tfkit.from_config(
        "mmbt", head, text_config=TEXT, image_config=None, modal_hidden_size=7, num_labels=labels
    ).eval()
    made.load_state_dict(made.names.load(weights))
    return made


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize("dtype", list(CLOSE), ids=str)
def test_numbers_and_gradients(name, dtype):
    weights, given, expected, grads = fixture(name)
    ours = model(name, weights).to(dtype)
    out = ours(**{key: t.to(dtype) if t.is_floating_point() else t for key, t in given.items()})
    assert out.keys() == expected.keys()
    for key, tensor in expected.items():
        torch.testing.assert_close(out[key], tensor.to(dtype), **CLOSE[dtype])
    value = out.get("loss")
    if value is None:
        value = sum((x * torch.arange(x.numel(), dtype=x.dtype).view_as(x).cos()).sum() for x in out.values())
    value.backward()
    found = ours.names.dump({n: p.grad for n, p in ours.named_parameters()}, with_head=ours.head is not None)
    assert grads.keys() <= found.keys()
    for key, tensor in grads.items():
        scale = CLOSE[dtype] | {"atol": 20 * CLOSE[dtype]["atol"]}
        torch.testing.assert_close(found[key], tensor.to(dtype), **scale, msg=lambda text, n=key: f"{n}: {text}")


@pytest.mark.parametrize("name", list(CASES))
def test_files_hold_what_theirs_do(name, tmp_path):
    weights, *_ = fixture(name)
    ours = model(name, weights)
    ours.save_pretrained(tmp_path)
    written = load_file(tmp_path / "model.safetensors")
    assert written.keys() == weights.keys()
    assert all(torch.equal(written[key], tensor) for key, tensor in weights.items())
    again = tfkit.from_pretrained(tmp_path)
    assert again.head == ours.head
    save_file(written | {next(k for k in written if k.endswith("LayerNorm.bias")): torch.ones(12)}, tmp_path / "x")
    (tmp_path / "x").rename(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"modal_encoder.LayerNorm.bias differs from transformer.embeddings.LayerNorm"):
        tfkit.from_pretrained(tmp_path)


def seeing(**more):
    image = {"blocks": [1, 1, 1, 1], "width": 4, "bottleneck": False, "regions": [2, 1]}
    settings = {"text_config": TEXT, "image_config": image, "modal_hidden_size": 32} | more
    return tfkit.from_config("mmbt", "sequence_classification", **settings).eval()


def test_with_its_own_image_encoder(tmp_path):
    torch.manual_seed(0)
    ours = seeing()
    pictures, ids = torch.randn(2, 3, 24, 30), torch.randint(3, 30, (2, 5))
    out = ours(pictures, ids, labels=torch.tensor([0, 1]))
    out.loss.backward()
    unread = {name for name, p in ours.named_parameters() if p.grad is None}
    assert not unread
    ours.save_pretrained(tmp_path)
    assert torch.equal(tfkit.from_pretrained(tmp_path)(pictures, ids).logits, out.logits)
    assert ours.to(torch.bfloat16)(pictures.bfloat16(), ids).logits.isfinite().all()


@torch.no_grad()
def test_padding_and_the_order_of_rows_change_nothing():
    ours = seeing()
    pictures, ids = torch.randn(2, 3, 24, 30), torch.randint(3, 30, (2, 5))
    mask = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    logits = ours(pictures, ids, attention_mask=mask).logits
    torch.testing.assert_close(ours(pictures[:1], ids[:1, :3]).logits, logits[:1], rtol=1e-4, atol=1e-5)
    turned = ours(pictures.flip(0), ids.flip(0), attention_mask=mask.flip(0)).logits
    torch.testing.assert_close(turned.flip(0), logits, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("text", ["bert", "roberta", "xlm_roberta"])
def test_any_encoder_of_pictures_and_bert_or_its_children(text):
    class Mean(torch.nn.Module):
        def forward(self, sound):
            return sound.mean(1, keepdim=True)

    config = tfkit.registry.load("mmbt").Config(text_config=TEXT | {"architecture": text}, modal_hidden_size=9)
    model = tfkit.registry.load("mmbt").MODEL(config, images=Mean())
    assert model(torch.randn(2, 20, 9), torch.randint(3, 30, (2, 4))).last_hidden_state.shape == (2, 5, 12)


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({"blocks": (2, 2, 2, 2), "bottleneck": False}, 11_176_512),
        ({}, 23_508_032),
        ({"blocks": (3, 8, 36, 3)}, 58_143_808),
    ],
)
def test_published_sizes_of_the_image_encoder(fields, count):
    with shapes_only():
        assert sum(p.numel() for p in ResNet(**fields).parameters()) == count


def test_published_size(parity):
    assert parity.count("mmbt-base-uncased", None) == 109_482_240 + 58_143_808 + 2048 * 768 + 768


@pytest.mark.parametrize("bottleneck", [True, False])
def test_the_image_encoder_is_the_published_one(bottleneck):
    torch.manual_seed(0)
    kind, outer = ("bottleneck", 4) if bottleneck else ("basic", 1)
    sizes = [4 * outer * 2**stage for stage in range(4)]
    config = hf.ResNetConfig(embedding_size=4, hidden_sizes=sizes, depths=[2, 1, 2, 1], layer_type=kind)
    theirs, ours = hf.ResNetModel(config).eval(), ResNet((2, 1, 2, 1), 4, bottleneck, (1, 1)).eval()
    tensors = [t for name, t in theirs.state_dict().items() if "shortcut" not in name]
    asides = [t for name, t in theirs.state_dict().items() if "shortcut" in name]
    weights = {}
    for name, tensor in ours.state_dict().items():  # both list their layers in the order in which they are run
        weights[name] = (asides if "downsample" in name else tensors).pop(0)
        if tensor.is_floating_point() and tensor.dim() == 1:
            weights[name] = weights[name].uniform_(0.5, 1.5)
    assert not tensors and not asides
    ours.load_state_dict(weights)
    pictures = torch.randn(2, 3, 40, 50)
    expected = theirs(pictures).pooler_output.flatten(1)
    torch.testing.assert_close(ours(pictures)[:, 0], expected, rtol=1e-4, atol=1e-5)


IDS = torch.tensor([[3, 4, 5]])
PICTURE = torch.zeros(1, 3, 32, 32)
BAD = {
    r"images must be \[B,3,H,W\]; got \[1, 32, 32\]": lambda: seeing()(PICTURE[:, 0], IDS),
    "input_modal must have 1 rows, as input_ids has; got 2": lambda: seeing()(PICTURE.expand(2, 3, 32, 32), IDS),
    "input_modal must have 1 rows, as input_ids has; got none": lambda: seeing()(None, IDS),
    "modal_hidden_size is 5, and image_config gives 32": lambda: seeing(modal_hidden_size=5),
    r"the image encoder must return \[B,N,5\]; got \[1, 2, 3\]": lambda: seeing(modal_hidden_size=5, image_config=None)(
        torch.zeros(1, 2, 3), IDS
    ),
    "modal_start_tokens holds 99, outside": lambda: seeing()(PICTURE, IDS, torch.tensor([99])),
    "GPT2 cannot take images": lambda: seeing(text_config={"architecture": "gpt2", "d_model": 8, "n_heads": 2}),
    "ALBERT has embeddings narrower": lambda: seeing(
        text_config={"architecture": "albert", "d_model": 8, "n_heads": 2}
    ),
    r"attention_mask has shape \[1, 2\]": lambda: seeing()(PICTURE, IDS, attention_mask=IDS[:, :2]),
    "labels were passed to a model without a head": lambda: tfkit.from_config(
        "mmbt", text_config=TEXT, image_config=None
    )(torch.zeros(1, 1, 2048), IDS, labels=torch.tensor([0])),
}


@pytest.mark.parametrize("message", list(BAD))
def test_what_does_not_fit_is_named(message):
    with pytest.raises((ValueError, TypeError), match=message) as error:
        BAD[message]()
    assert "\n" not in str(error.value)
