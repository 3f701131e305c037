"""DPR's three models are the published ones; and the encoders learn to find what belongs to a question."""

import pytest
import torch
import torch.nn.functional as F

import tfkit
from tfkit.objectives.in_batch_contrastive import in_batch_loss
from tfkit.retrieve import DenseIndex

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 99, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 40}
SIZES |= {"max_position_embeddings": 40, "attn_implementation": "eager"}
CASES = [
    ("DPRQuestionEncoder", {}),
    ("DPRQuestionEncoder", {"projection_dim": 7, "hidden_act": "relu"}),
    ("DPRContextEncoder", {"projection_dim": 7}),
    ("DPRReader", {}),
    ("DPRReader", {"projection_dim": 24}),
]


@pytest.fixture(params=CASES, ids=str)
def pair(request, parity, tmp_path):
    name, more = request.param
    theirs = parity.shake(getattr(hf, name)(hf.DPRConfig(**SIZES | more)))
    return theirs, parity.read(theirs, tmp_path)


def total(out):
    """Something that depends on every number of an output."""
    return sum((x * torch.arange(x.numel(), dtype=x.dtype).view_as(x).cos()).sum() for x in out.values())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_numbers_and_gradients(pair, parity, dtype):
    theirs, ours = (model.to(dtype) for model in pair)
    ids, mask, _ = parity.ragged()
    types = {} if "Reader" in type(theirs).__name__ else {"token_type_ids": ids % 2}
    expected = theirs(ids, attention_mask=mask, output_hidden_states=True, **types)
    out = ours(ids, mask, **types)
    expected = {key: expected[key] for key in out if key in expected} | (
        {} if types else {"relevance_logits": expected.relevance_logits}
    )
    if "last_hidden_state" in out:
        expected["last_hidden_state"] = theirs(ids, attention_mask=mask, output_hidden_states=True, **types)[
            "hidden_states"
        ][-1]
    assert expected.keys() == out.keys()
    close = {"rtol": 1e-9, "atol": 1e-9} if dtype == torch.float64 else {"rtol": 1e-4, "atol": 1e-5}
    for key, tensor in expected.items():
        torch.testing.assert_close(out[key], tensor, **close)
    total(expected).backward(), total(out).backward()
    unread = {"task_head.project.weight", "task_head.project.bias"} if ours.head == "reader" else set()
    grads = {n: p.grad for n, p in ours.named_parameters() if n not in unread}
    assert all(grad is not None for grad in grads.values())
    grads = ours.names.dump(grads, with_head=True)
    for name, parameter in theirs.named_parameters():
        if parameter.grad is not None:
            torch.testing.assert_close(grads.pop(name), parameter.grad, rtol=close["rtol"], atol=20 * close["atol"])
    assert not grads


def test_files_go_both_ways(pair, tmp_path):
    theirs, ours = pair
    ours.save_pretrained(tmp_path / "ours")
    again = type(theirs).from_pretrained(tmp_path / "ours")
    for name, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor), name
    assert tfkit.from_pretrained(tmp_path / "ours").head == ours.head


def test_the_readers_loss(parity):
    reader = tfkit.from_config("dpr", "reader", vocab_size=99, d_model=24, n_layers=1, n_heads=3, d_ff=24).eval()
    ids, mask, _ = parity.ragged()
    start, end = torch.tensor([1, 0, 3]), torch.tensor([2, 4, 5])
    out = reader(ids, mask, start_positions=start, end_positions=end)
    expected = F.cross_entropy(out.start_logits, start) + F.cross_entropy(out.end_logits, end)
    torch.testing.assert_close(out.loss, expected / 2)


def test_without_a_head_it_reads_questions(parity):
    torch.manual_seed(0)
    model = tfkit.from_config("dpr", vocab_size=99, d_model=24, n_layers=1, n_heads=3, d_ff=24, projection_dim=5)
    assert model.head == "question_encoder"
    ids, mask, _ = parity.ragged()
    model.eval()
    short = model(ids[2:, :7]).pooler_output
    torch.testing.assert_close(model(ids, mask).pooler_output[2:], short, rtol=1e-4, atol=1e-5)  # padding is not seen
    assert model.to(torch.bfloat16)(ids, mask).pooler_output.isfinite().all()


@pytest.mark.parametrize(
    ("head", "count"), [("question_encoder", 108_891_648), ("context_encoder", 108_891_648), ("reader", 108_893_955)]
)
def test_published_sizes(parity, head, count):
    assert parity.count("dpr-question_encoder-single-nq-base", head) == count


def test_learning_to_find():
    """A question has four words of its passage's six. After some steps its vector finds that passage among 32."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 40, "d_model": 64, "n_layers": 1, "n_heads": 4, "d_ff": 32, "max_length": 8}
    heads = "question_encoder", "context_encoder"
    models = torch.nn.ModuleList(tfkit.from_config("dpr", h, **sizes, dropout=0.0, attn_dropout=0.0) for h in heads)
    for parameter in models.parameters():
        if parameter.dim() == 2:
            parameter.data *= 5  # what they start with is meant for a greater width
    optimizer = torch.optim.Adam(models.parameters(), 3e-3)

    def vectors(rows=32):
        passages = torch.cat([torch.ones(rows, 1).long(), torch.rand(rows, 35).argsort(-1)[:, :6] + 5], 1)
        kept = torch.randperm(6)[:4] + 1
        questions = passages[:, [0, *kept]]
        return [model(ids).pooler_output for model, ids in zip(models, (questions, passages), strict=True)]

    for _ in range(150):
        loss = in_batch_loss(*vectors(), torch.arange(32))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    questions, passages = vectors()
    _, rows = DenseIndex(passages).search(questions, 1)
    assert (rows[:, 0] == torch.arange(32)).float().mean() > 0.7
