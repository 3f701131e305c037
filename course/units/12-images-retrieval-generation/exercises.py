"""Pictures among words, finding by contrast, and writing from what was found."""

from autograder.api import Exercise

EXERCISES = [
    Exercise(
        id="mmbt.inputs",
        unit="12-images-retrieval-generation",
        title="A picture among words",
        symbols=("multimodal_inputs",),
        references=("tfkit.nn.multimodal:multimodal_inputs",),
        checks="inputs",
        points=1,
    ),
    Exercise(
        id="dpr.in_batch_loss",
        unit="12-images-retrieval-generation",
        title="Others' answers are the wrong ones",
        symbols=("in_batch_loss",),
        references=("tfkit.objectives.in_batch_contrastive:in_batch_loss",),
        checks="in_batch_loss",
        points=1,
    ),
    Exercise(
        id="rag.token",
        unit="12-images-retrieval-generation",
        title="Any document, at every token",
        symbols=("rag_token_log_probs",),
        references=("tfkit.objectives.rag_marginals:rag_token_log_probs",),
        checks="rag_token",
        points=2,
    ),
    Exercise(
        id="rag.sequence",
        unit="12-images-retrieval-generation",
        title="One document for the whole sequence",
        symbols=("rag_sequence_log_probs",),
        references=("tfkit.objectives.rag_marginals:rag_sequence_log_probs",),
        checks="rag_sequence",
        points=2,
    ),
]
