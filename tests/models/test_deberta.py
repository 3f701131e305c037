"""DeBERTa, both of them, are the published ones, with every head; and the fast scores are the lesson's."""

import json
import math

import pytest
import torch
import torch.nn.functional as F

import tfkit
from tfkit.nn import disentangled_scores, distance_windows, scores_by_distance

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 40}
SIZES |= {"max_position_embeddings": 40, "id2label": {0: "a", 1: "b", 2: "c"}, "relative_attention": True}
SIZES |= {"pos_att_type": "c2p|p2c", "position_biased_input": False}
CLASSES = {"deberta": "Deberta", "deberta_v2": "DebertaV2"}
ODD = {
    "p2c-talking": (
        "deberta",
        {
            "pos_att_type": ["p2c"], "max_relative_positions": 4, "talking_head": True, "embedding_size": 16,
            "type_vocab_size": 2, "position_biased_input": True, "hidden_act": "relu",
        },
    ),
    "c2p-new-names": ("deberta", {"pos_att_type": ["c2p"], "legacy": False}),
    "v2-buckets-conv": (
        "deberta_v2",
        {
            "position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True, "conv_kernel_size": 3,
            "conv_act": "gelu", "conv_groups": 2, "type_vocab_size": 2,
        },
    ),
    "v2-c2p": ("deberta_v2", {"pos_att_type": "c2p", "conv_kernel_size": 5, "position_biased_input": True}),
    "v2-absolute": ("deberta_v2", {"relative_attention": False, "position_biased_input": True, "legacy": False}),
    "absolute": ("deberta", {"relative_attention": False, "position_biased_input": True, "pos_att_type": []}),
}  # fmt: skip
CASES = [(kind, head) for kind in CLASSES for head in tfkit.registry.load(kind).MODEL.HEADS]


@pytest.fixture
def exact(monkeypatch, parity):
    """Where their code says float32 in words of its own, it says float64."""

    class Wide(parity.Double):
        float = torch.float64

    def norm(self, x):
        return F.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.variance_epsilon)

    def start():
        for kind in CLASSES:
            monkeypatch.setattr(f"transformers.models.{kind}.modeling_{kind}.torch", Wide())
        monkeypatch.setattr("transformers.models.deberta.modeling_deberta.DebertaLayerNorm.forward", norm)

    return start


def pair(parity, kind, head, directory, **more):
    sizes = {**SIZES, **more}
    if head == "question_answering":
        del sizes["id2label"]
    if head == "sequence_classification" and "problem_type" not in more:  # or their loss is in float32
        sizes["problem_type"] = "single_label_classification"
    names = {its: name for name, its in tfkit.registry.load(kind).HF_HEADS.items()}
    theirs = parity.shake(getattr(hf, names[head])(getattr(hf, CLASSES[kind] + "Config")(**sizes)))
    return theirs, parity.read(theirs, directory)


def batch(head, length=11, types=1):
    draw = torch.Generator().manual_seed(1)
    shape = (3, 2, length) if head == "multiple_choice" else (3, length)
    real = torch.arange(length) < torch.tensor([length, length - 5, length - 2]).view(3, *[1] * (len(shape) - 1))
    real = real.expand(shape)
    ids = torch.randint(3, 61, shape, generator=draw).masked_fill(~real, 0)
    words = torch.randint(0, 61, shape, generator=draw).masked_fill(~real, -100)
    classes = torch.tensor([1, 0, 1])
    targets = {
        "masked_lm": {"labels": words},
        "sequence_classification": {"labels": classes + 1},
        "token_classification": {"labels": (words % 3).masked_fill(~real, -100)},
        "question_answering": {"start_positions": classes, "end_positions": torch.tensor([4, 99, 7])},
        "multiple_choice": {"labels": classes},
    }
    given = {"input_ids": ids, "attention_mask": real.long(), **targets.get(head, {})}
    return given | ({"token_type_ids": ids % types} if types > 1 else {})


@pytest.mark.parametrize(("kind", "head"), CASES)
def test_numbers_gradients_and_files(parity, exact, kind, head, tmp_path):
    theirs, ours = pair(parity, kind, head, tmp_path)
    exact()
    parity.assert_same_fields_and_gradients(kind, theirs, ours, batch(head))
    ours.save_pretrained(tmp_path / "ours")
    again = type(theirs).from_pretrained(tmp_path / "ours")
    for key, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[key], tensor), key


@pytest.mark.parametrize("name", list(ODD))
def test_unusual_configurations(parity, exact, name, tmp_path):
    kind, more = ODD[name]
    theirs, ours = pair(parity, kind, "masked_lm", tmp_path, **more)
    exact()
    given = batch("masked_lm", types=more.get("type_vocab_size", 1))
    parity.assert_same_fields_and_gradients(kind, theirs, ours, given)
    ours.float().save_pretrained(tmp_path / "ours")
    again = type(theirs).from_pretrained(tmp_path / "ours")
    for key, tensor in theirs.float().state_dict().items():
        assert torch.equal(again.state_dict()[key], tensor), key


@pytest.mark.parametrize("kind", list(CLASSES))
def test_several_blocks_of_distances(parity, exact, kind, tmp_path):
    """Longer than a block, and than the relative positions go."""
    more = {"position_buckets": 32, "share_att_key": True} if kind == "deberta_v2" else {}
    theirs, ours = pair(parity, kind, "masked_lm", tmp_path, max_relative_positions=50, **more)
    exact()
    parity.assert_same_fields_and_gradients(kind, theirs, ours, batch("masked_lm", length=131))


@pytest.mark.parametrize(("length", "k", "block"), [(1, 2, 4), (6, 9, 64), (11, 4, 3), (12, 20, 4)])
def test_the_fast_scores_are_the_lessons(length, k, block):
    torch.manual_seed(0)
    qc, kc = (torch.randn(2, 3, length, 4, dtype=torch.float64, requires_grad=True) for _ in range(2))
    qr, kr = (torch.randn(3, 2 * k, 4, dtype=torch.float64, requires_grad=True) for _ in range(2))
    right = distance_windows(length, block=block)

    def gather_rows(table, distance):
        return table[:, (k + distance).clamp(0, 2 * k - 1)]

    def whole(scores):
        return scores.flatten(2, 3)[..., :length, :length]

    # as the paper has it: seen from the key, to the other side; the published models use one side for both
    fast = whole(scores_by_distance(qc, gather_rows(kr, -right)))
    fast = (qc @ kc.mT + fast + whole(scores_by_distance(kc, gather_rows(qr, -right))).mT) / math.sqrt(12)
    expected = disentangled_scores(qc, kc, qr, kr, k)
    torch.testing.assert_close(fast, expected)
    weight = torch.randn_like(fast)
    for a, b in zip(
        *(torch.autograd.grad((x * weight).sum(), (qc, kc, qr, kr)) for x in (fast, expected)), strict=True
    ):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("kind", list(CLASSES))
@torch.no_grad()
def test_padding_and_the_order_of_rows_change_nothing(parity, kind, tmp_path):
    _, ours = pair(parity, kind, None, tmp_path)
    given = batch(None)
    ids, mask = given["input_ids"], given["attention_mask"]
    states = ours(ids, mask).last_hidden_state
    torch.testing.assert_close(ours(ids[1:2, :6]).last_hidden_state, states[1:2, :6], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(ours(ids.flip(0), mask.flip(0)).last_hidden_state.flip(0), states)


@pytest.mark.parametrize("kind", list(CLASSES))
def test_bfloat16_is_finite_and_training_drops(parity, kind, tmp_path):
    _, ours = pair(parity, kind, "masked_lm", tmp_path)
    given = batch("masked_lm")
    out = ours.to(torch.bfloat16)(**given)
    assert out.logits.dtype == torch.bfloat16
    assert out.loss.isfinite()
    ours.float().train()
    torch.manual_seed(0)
    assert ours(**given).loss != ours(**given).loss


@pytest.mark.parametrize(("kind", "talking"), [("deberta", False), ("deberta", True), ("deberta_v2", False)])
def test_learning_and_reading_take_two_paths_to_the_same(parity, kind, talking, tmp_path):
    """The fused kernel where no gradient is wanted, by hand where one is; a trace changes neither, and sees both."""
    _, ours = pair(parity, kind, "masked_lm", tmp_path, **({"talking_head": True} if talking else {}))
    given = batch("masked_lm")
    learning = ours(**given).logits
    with torch.no_grad():
        distance_projections = ours(**given).logits
        with tfkit.trace(ours) as fused:
            assert torch.equal(ours(**given).logits, distance_projections)
    torch.testing.assert_close(distance_projections, learning, rtol=1e-4, atol=1e-5)
    with tfkit.trace(ours) as by_hand:
        assert torch.equal(ours(**given).logits, learning)
    for name in ("layers.0.attn.weights", "layers.2.attn.weights"):  # of the row without padding
        torch.testing.assert_close(fused[name][0], by_hand[name][0], rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_v2s_enhanced_mask_decoder_by_their_layers(parity, tmp_path):
    """Their last layer takes queries of its own, though no model there gives it any: with what it read itself plus
    the positions, then with what came of that."""
    theirs, ours = pair(parity, "deberta_v2", "masked_lm", tmp_path, share_att_key=True)
    weights = ours.names.dump(ours.state_dict(), with_head=True)
    weights["deberta.embeddings.position_embeddings.weight"] = torch.randn(40, 24)
    tfkit.hub.files.write(weights, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "emd_steps": 2}))
    ids = batch(None)["input_ids"][:1]
    states = theirs.deberta(ids, output_hidden_states=True).hidden_states
    query_states = states[-2] + weights["deberta.embeddings.position_embeddings.weight"][:11]
    encoder = theirs.deberta.encoder
    for _ in range(2):
        query_states = encoder.layer[-1](
            states[-2], torch.ones(1, 1, 11, 11), query_states=query_states,
            relative_pos=encoder.get_rel_pos(states[-2]),
            rel_embeddings=encoder.get_rel_embedding(),
        )[0]  # fmt: skip
    logits = tfkit.from_pretrained(tmp_path)(ids).logits
    torch.testing.assert_close(logits, theirs.cls(query_states), rtol=1e-4, atol=1e-5)


def test_labels_may_be_probabilities(parity, exact, tmp_path):
    theirs, ours = pair(parity, "deberta", "sequence_classification", tmp_path, problem_type=None)
    exact()
    labels = torch.tensor([[0.2, 0.5, 0.3], [1, 0, 0], [0, 0.5, 0.5]], dtype=torch.float64)
    parity.assert_same_fields_and_gradients("deberta", theirs, ours, batch(None) | {"labels": labels})


@torch.no_grad()
def test_the_enhanced_mask_decoder(parity, tmp_path):
    """Published files store its positions and the words' head under the name of old. transformers has neither; the
    last layer is asked by what it read, plus the positions: with a table of zeros, and asked once, nothing changes."""
    _, ours = pair(parity, "deberta", "masked_lm", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    weights = {name: t for name, t in ours.names.dump(ours.state_dict(), with_head=True).items()}
    weights = {name.replace("cls.predictions.transform", "lm_predictions.lm_head"): t for name, t in weights.items()}
    weights["lm_predictions.lm_head.bias"] = weights.pop("cls.predictions.bias")
    weights["deberta.embeddings.position_embeddings.weight"] = torch.zeros(40, 24)
    weights["mask_predictions.classifier.weight"] = torch.zeros(1, 24)
    given = batch("masked_lm")
    logits = ours(**given).logits
    for steps, positions in ((0, 1.0), (1, 0.0), (1, 1.0), (2, 0.0)):
        weights["deberta.embeddings.position_embeddings.weight"].normal_().mul_(positions)
        tfkit.hub.files.write(weights, tmp_path)
        (tmp_path / "config.json").write_text(json.dumps({**config, "emd_steps": steps}))
        found = tfkit.from_pretrained(tmp_path)
        assert torch.allclose(found(**given).logits, logits, atol=1e-6) == (
            steps == 0 or (steps, positions) == (1, 0.0)
        )


COUNTS = {
    "deberta-base": 138_601_728, "deberta-large": 405_163_008, "deberta-xlarge": 757_804_032,
    "deberta-v2-xlarge": 884_593_152, "deberta-v3-xsmall": 70_682_112, "deberta-v3-small": 141_304_320,
    "deberta-v3-base": 183_831_552, "deberta-v3-large": 434_012_160, "mdeberta-v3-base": 278_218_752,
}  # fmt: skip


@pytest.mark.parametrize("preset", list(COUNTS))
def test_published_sizes(parity, preset):
    assert parity.count(preset, None) == COUNTS[preset]


BAD = {
    "input_ids holds 20, outside its table": {"input_ids": torch.tensor([[20]])},
    r"attention_mask has shape \[1, 2\]": {"input_ids": torch.tensor([[3]]), "attention_mask": torch.ones(1, 2).long()},
    "attention_mask is torch.float32": {"input_ids": torch.tensor([[3]]), "attention_mask": torch.ones(1, 1)},
    "input_ids has length 7, max_length is 6": {"input_ids": torch.ones(1, 7).long()},
}


@pytest.mark.parametrize("message", list(BAD))
def test_what_does_not_fit_is_named(message):
    sizes = {"vocab_size": 20, "d_model": 8, "n_layers": 1, "n_heads": 2, "d_ff": 8, "max_length": 6}
    with pytest.raises((ValueError, TypeError), match=message):
        tfkit.from_config("deberta", **sizes, position_biased_input=True)(**BAD[message])
    with pytest.raises(ValueError, match="pos_att_type holds 'c2c': only 'c2p' and 'p2c' are known"):
        tfkit.from_config("deberta", **sizes, pos_att_type="c2p|c2c")
