"""What is taken away from a text and what must be written: T5, BART, Pegasus and ProphetNet."""

from autograder.api import Exercise

EXERCISES = [
    Exercise(
        id="objectives.span_corruption",
        unit="10-seq2seq-objectives",
        title="Write only what is missing",
        symbols=("span_corruption",),
        references=("tfkit.objectives.span_corruption:span_corruption",),
        checks="span_corruption",
        points=2,
    ),
    Exercise(
        id="objectives.denoise",
        unit="10-seq2seq-objectives",
        title="Write the whole text again",
        symbols=("delete_tokens", "infill", "permute_sentences", "rotate"),
        references=(
            "tfkit.objectives.denoising:delete_tokens",
            "tfkit.objectives.denoising:infill",
            "tfkit.objectives.denoising:permute_sentences",
            "tfkit.objectives.denoising:rotate",
        ),
        checks="denoise",
        points=2,
    ),
    Exercise(
        id="objectives.gap_sentences",
        unit="10-seq2seq-objectives",
        title="Write the sentences that say most",
        symbols=("gap_sentences",),
        references=("tfkit.objectives.gap_sentences:gap_sentences",),
        checks="gap_sentences",
        points=1,
    ),
    Exercise(
        id="objectives.future_ngram",
        unit="10-seq2seq-objectives",
        title="Predict further than the next word",
        symbols=("future_ngram_loss",),
        references=("tfkit.objectives.future_ngram:future_ngram_loss",),
        checks="future_ngram",
        points=2,
    ),
]
