"""RAG is the published RAG, given the same passages; and with an index it finds them, answers, and learns to find."""

import pytest
import torch

import tfkit
from tfkit.decode import Beam
from tfkit.nn import StaticCache
from tfkit.retrieve import DenseIndex, Retriever, answers

hf = pytest.importorskip("transformers")
DOCS = 3
DPR = {"vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 40}
BART = {"vocab_size": 99, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4}
BART |= {"decoder_attention_heads": 2, "encoder_ffn_dim": 40, "decoder_ffn_dim": 48, "max_position_embeddings": 60}
BART |= {"forced_eos_token_id": None}
CLASSES = {None: "RagModel", "rag_token": "RagTokenForGeneration", "rag_sequence": "RagSequenceForGeneration"}
CLOSE = {torch.float32: {"rtol": 1e-4, "atol": 1e-5}, torch.float64: {"rtol": 1e-9, "atol": 1e-9}}


def made(parity, head, tied=True, **more):
    parts = hf.DPRConfig(**DPR, max_position_embeddings=30), hf.BartConfig(**BART, tie_word_embeddings=tied)
    config = hf.RagConfig.from_question_encoder_generator_configs(
        *parts, n_docs=DOCS, bos_token_id=0, pad_token_id=1, eos_token_id=2, decoder_start_token_id=2, **more
    )
    torch.manual_seed(0)
    return parity.shake(getattr(hf, CLASSES[head])(config))


def telling(theirs):
    """So small a model would say one word for ever."""
    theirs.generator.model.decoder.embed_positions.weight.data *= 20
    for layer in theirs.generator.model.decoder.layers:
        layer.encoder_attn.v_proj.weight.data *= 10
    return theirs


def passages(parity, dtype=torch.float32, rows=2):
    ids, mask, _ = parity.ragged(rows=rows * DOCS, length=13, seed=4)
    scores = torch.randn(rows, DOCS, generator=torch.Generator().manual_seed(0)).to(dtype)
    return {"context_input_ids": ids.masked_fill(mask == 0, 1), "context_attention_mask": mask, "doc_scores": scores}


LABELS = torch.tensor([[2, 0, 7, 8, 9, 2], [2, 0, 30, 2, 1, 1]])
CASES = [(None, {}), ("rag_token", {}), ("rag_token", {"label_smoothing": 0.1, "do_marginalize": True})]
CASES += [("rag_sequence", {}), ("rag_sequence", {"label_smoothing": 0.1, "exclude_bos_score": True})]


def test_an_untied_generator(parity, tmp_path):
    """Its tables and its output matrix are read and written apart."""
    theirs = made(parity, "rag_token", tied=False)
    ours = parity.read(theirs, tmp_path)
    given = passages(parity) | {"labels": LABELS}
    torch.testing.assert_close(ours(**given).logits, theirs(**given).logits, **CLOSE[torch.float32])
    ours.save_pretrained(tmp_path / "again")
    again, report = type(theirs).from_pretrained(tmp_path / "again", output_loading_info=True)
    assert not report["unexpected_keys"] and not report["missing_keys"]
    for name, tensor in theirs.state_dict().items():
        unread = name.endswith("generator.model.shared.weight")  # untied there: no side looks anything up in it
        assert unread or torch.equal(tensor, again.state_dict()[name]), name


@pytest.mark.parametrize(("head", "more"), CASES, ids=str)
@pytest.mark.parametrize("dtype", list(CLOSE), ids=str)
def test_numbers_and_gradients(parity, head, more, dtype, tmp_path):
    theirs = made(parity, head, **more)
    theirs, ours = theirs.to(dtype), parity.read(theirs, tmp_path).to(dtype)
    given = passages(parity, dtype)
    given |= {"decoder_input_ids": LABELS} if head is None else {"labels": LABELS}
    outs, scores = [], [given["doc_scores"].clone().requires_grad_() for _ in range(2)]
    for model, own in zip((theirs, ours), scores, strict=True):
        out = model(**given | {"doc_scores": own})
        (out.logits.cos().sum() if head is None else 100 * (out.loss * torch.tensor([1.0, 2.0])).sum()).backward()
        outs.append(out)
    expected, found = outs
    for key in ("logits", "generator_enc_last_hidden_state", *(["loss"] if head else [])):
        tensor = expected[key]
        if key.startswith("generator"):
            real = given["context_attention_mask"] == 1
            torch.testing.assert_close(found[key][real], tensor[real], **CLOSE[dtype])
        else:
            torch.testing.assert_close(found[key], tensor, **CLOSE[dtype])
    close = CLOSE[dtype] | {"atol": 20 * CLOSE[dtype]["atol"]}
    if head:
        torch.testing.assert_close(scores[1].grad, scores[0].grad, **close)
    grads = {n: p.grad for n, p in ours.named_parameters() if p.grad is not None}
    grads = ours.names.dump(grads, with_head=head is not None)
    for name, parameter in theirs.named_parameters():
        if "question_encoder" in name:
            assert name not in grads and parameter.grad is None
        else:
            torch.testing.assert_close(grads.pop(name), parameter.grad, **close, msg=lambda t, n=name: f"{n}: {t}")
    assert not grads


@pytest.mark.parametrize("head", list(CLASSES), ids=str)
def test_files_go_both_ways(parity, head, tmp_path):
    theirs = made(parity, head, label_smoothing=0.1)
    ours = parity.read(theirs, tmp_path / "theirs")
    ours.save_pretrained(tmp_path / "ours")
    again = type(theirs).from_pretrained(tmp_path / "ours")
    for name, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor), name
    assert again.config.label_smoothing == 0.1
    assert again.config.n_docs == DOCS
    back = tfkit.from_pretrained(tmp_path / "ours")
    assert (back.head, back.config.decoder_start_token_id) == (head, 2)


WORDS = torch.randint(3, 50, (9, 5), generator=torch.Generator().manual_seed(3))


def with_index(ours):
    """Nine passages of unequal length."""
    vectors = torch.randn(9, 24, generator=torch.Generator().manual_seed(1))
    ours.retriever = Retriever(
        DenseIndex(vectors), [row[: 2 + i % 4].tolist() for i, row in enumerate(WORDS)], pad_id=1
    )
    return ours


def questions(parity):
    ids, mask, _ = parity.ragged(rows=2, length=6, vocab=50)
    return ids.masked_fill(mask == 0, 0), mask


@pytest.mark.parametrize("head", ["rag_token", "rag_sequence"])
def test_the_retriever_is_in_the_loop(parity, head, tmp_path):
    """transformers' model gets the same documents; the loss trains the question encoder, too, as it does there."""
    theirs = made(parity, head)
    ours = with_index(parity.read(theirs, tmp_path))
    ids, mask = questions(parity)
    out = ours(ids, mask, labels=LABELS, reduce_loss=True, output_retrieved=True)
    out.loss.backward()
    vector = theirs.question_encoder(ids, attention_mask=mask).pooler_output
    scores = (vector @ ours.retriever.index.vectors.T).topk(DOCS)
    assert torch.equal(out["retrieved_doc_ids"], scores.indices)
    torch.testing.assert_close(out["doc_scores"], scores.values, rtol=1e-4, atol=1e-5)
    found = {name: out[name] for name in ("context_input_ids", "context_attention_mask")}
    expected = theirs(**found, doc_scores=scores.values, labels=LABELS, reduce_loss=True)
    torch.testing.assert_close(out.loss, expected.loss, rtol=1e-4, atol=1e-5)
    expected.loss.backward()
    assert all(p.grad is not None for p in ours.parameters())
    name = "bert_model.embeddings.word_embeddings.weight"
    close = {"rtol": 1e-3, "atol": 1e-4}
    their_grad = theirs.question_encoder.question_encoder.get_parameter(name).grad
    torch.testing.assert_close(ours.question_encoder.embed.tokens.weight.grad, their_grad, **close)


def found_for_theirs(ours, parity):
    ids, mask = questions(parity)
    found = ours.retrieve(ids, mask)
    mask = found["context_attention_mask"].long()
    return {name: found[name] for name in ("context_input_ids", "doc_scores")} | {"context_attention_mask": mask}


@pytest.mark.parametrize("beams", [1, 3])
@torch.no_grad()
def test_marginalised_generation(parity, beams, tmp_path):
    theirs = telling(made(parity, "rag_token"))
    ours = with_index(parity.read(theirs, tmp_path))
    ids, mask = questions(parity)
    given = found_for_theirs(ours, parity)
    expected = theirs.generate(**given, num_beams=beams, max_length=10, do_sample=False)
    strategy = [Beam(beams)] if beams > 1 else []
    for static in (False, True):
        out = tfkit.generate(ours, ids, *strategy, attention_mask=mask, max_new_tokens=9, static_cache=static)
        assert torch.equal(out, expected)
    assert expected.unique().numel() > 3


@torch.no_grad()
def test_thorough_answers(parity, tmp_path):
    theirs = telling(made(parity, "rag_sequence"))
    ours = with_index(parity.read(theirs, tmp_path))
    ids, mask = questions(parity)
    given = found_for_theirs(ours, parity)
    write = theirs.generator.generate  # transformers lets it read the padding of passages; tfkit does not
    theirs.generator.generate = lambda ids, **how: write(ids, **how | {"attention_mask": (ids != 1).long()})
    expected = theirs.generate(**given, num_beams=2, max_new_tokens=9, num_return_sequences=2)
    assert torch.equal(
        answers(ours, ids, Beam(2), attention_mask=mask, max_new_tokens=9, num_return_sequences=2), expected
    )
    assert expected.unique().numel() > 3
    with pytest.raises(ValueError, match="num_return_sequences=9: there are only 6 different answers"):
        answers(ours, ids, Beam(2), attention_mask=mask, max_new_tokens=9, num_return_sequences=9)


@pytest.mark.parametrize("make_cache", [lambda: None, lambda: StaticCache(16)], ids=["growing", "static"])
def test_cache_equals_no_cache(parity, make_cache, tmp_path):
    ours = with_index(parity.read(made(parity, "rag_token", do_marginalize=True), tmp_path))
    ids, mask, _ = parity.ragged(vocab=50)
    with torch.no_grad():
        encoded = ours.encode(ids, mask)
    parity.assert_same_with_cache(ours, make_cache, encoder_outputs=encoded)


@torch.no_grad()
def test_padding_and_the_order_of_questions_change_nothing(parity, tmp_path):
    ours = with_index(parity.read(made(parity, "rag_sequence"), tmp_path))
    ids, mask = questions(parity)
    loss = ours(ids, mask, labels=LABELS).loss
    torch.testing.assert_close(ours(ids.flip(0), mask.flip(0), labels=LABELS.flip(0)).loss.flip(0), loss)
    short = int(mask[1].sum())
    alone = ours(ids[1:, :short], labels=LABELS[1:].masked_fill(LABELS[1:] == 1, -100)).loss
    torch.testing.assert_close(alone, loss[1:], rtol=1e-4, atol=1e-5)
    assert ours.to(torch.bfloat16)(ids, mask, labels=LABELS).loss.isfinite().all()


def test_published_size(parity):
    assert parity.count("rag-token-nq", "rag_token") == 108_891_648 + 406_291_456


def tiny(head="rag_token"):
    asks = {"architecture": "dpr", "vocab_size": 20, "d_model": 8, "n_layers": 1, "n_heads": 2, "d_ff": 8}
    writes = {"architecture": "bart", "vocab_size": 20, "d_model": 8, "n_layers": 1, "n_heads": 2, "d_ff": 8}
    writes |= {"n_decoder_layers": 1, "n_decoder_heads": 2, "d_decoder_ff": 8}
    return tfkit.from_config("rag", head, question_encoder=asks, generator=writes, n_docs=2)


IDS = torch.tensor([[3, 4, 5], [3, 4, 5]])
BAD = {
    "set `retriever`, or give context_input_ids, context_attention_mask and doc_scores": {"input_ids": IDS},
    r"doc_scores must be \[B,D\], for 2 rows of context_input_ids; got none": {"context_input_ids": IDS},
    r"doc_scores must be \[B,D\], for 2 rows of context_input_ids; got \[2, 2\]": {
        "context_input_ids": IDS, "doc_scores": torch.ones(2, 2),
    },
    "decoder_input_ids has 2 rows, but there are 1 questions": {
        "context_input_ids": IDS, "doc_scores": torch.ones(1, 2), "decoder_input_ids": IDS,
    },
    r"context_attention_mask has shape \[2, 2\]": {
        "context_input_ids": IDS, "doc_scores": torch.ones(1, 2), "context_attention_mask": IDS[:, :2],
    },
    "decoder_input_ids is missing": {"context_input_ids": IDS, "doc_scores": torch.ones(1, 2)},
    "input_ids holds 33, outside": {"context_input_ids": IDS + 28, "doc_scores": torch.ones(1, 2), "labels": IDS[:1]},
}  # fmt: skip


@pytest.mark.parametrize("message", list(BAD))
def test_what_does_not_fit_is_named(message):
    with pytest.raises((ValueError, TypeError), match=message) as error:
        tiny()(**BAD[message])
    assert "\n" not in str(error.value)
