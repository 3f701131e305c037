"""Images as tokens, retrieval learned by contrast, and generation from the documents found."""

from autograder.api import Contract
from autograder.exercises.contracts import NEGATED, exchange_axes
from course import exercise

EXERCISES = [
    exercise("mmbt.inputs", "Image regions as tokens (MMBT)", "tfkit.nn.multimodal:multimodal_inputs", checks="inputs"),
    exercise(
        "dpr.in_batch_loss",
        "Loss with in-batch negatives (DPR)",
        "tfkit.objectives.in_batch_contrastive:in_batch_loss",
        checks="in_batch_loss",
    ),
    exercise(
        "rag.token",
        "RAG-token marginal",
        "tfkit.objectives.rag_marginals:rag_token_log_probs",
        checks="rag_token",
        points=2,
        contracts=[
            Contract(
                "negative", "What you return is to be minimised: the negative of the log-probability.", result=NEGATED
            )
        ],
    ),
    exercise(
        "rag.sequence",
        "RAG-sequence marginal",
        "tfkit.objectives.rag_marginals:rag_sequence_log_probs",
        checks="rag_sequence",
        points=2,
        contracts=[
            Contract(
                "documents_first",
                "`token_logits` are `[D,B,T,V]`: the documents come first, the batch second.",
                arguments=(("token_logits", exchange_axes(0, 1)),),
            )
        ],
    ),
    exercise(
        "rag.thorough",
        "Thorough decoding (RAG)",
        "tfkit.retrieve.thorough:thorough_decode",
        checks="thorough",
        points=3,
    ),
]
