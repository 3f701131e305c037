"""tfkit: the transformer zoo in files short enough to read.

    model = tfkit.from_config("transformer", head="seq2seq_lm", preset="base")
    out = model(input_ids=…, attention_mask=…, labels=…)        # out.loss, out.logits
    with tfkit.trace(model) as t: model(…)                      # t["encoder.0.self_attn.weights"]
    with tfkit.substitute(model, my_attention): model(…)        # by your function, held to the library's
    with tfkit.edit(model) as e: e["encoder.0"] = …; model(…)   # patch, ablate, steer; gone after
    model.save_pretrained(directory); tfkit.from_pretrained(directory)
    adapter = tfkit.lora(model, rank=8)                         # only the adapter learns; adapter.merge()
    tfkit.Text(directory).generate("Once upon a time")          # and fill, embed, translate, classify, chat

Importing it is cheap; torch is loaded when a name that needs it is first used.
"""

from tfkit_course import refuse_strangers

from .lazy import lazy_names
from .registry import architectures

__all__ = [
    "Text",
    "architectures",
    "edit",
    "from_config",
    "from_hf_config",
    "from_pretrained",
    "generate",
    "load",
    "load_adapter",
    "lora",
    "substitute",
    "trace",
]

refuse_strangers()

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Text": "tfkit.pipeline",
        "edit": "tfkit.inside",
        "from_config": "tfkit.hub",
        "from_hf_config": "tfkit.hub",
        "from_pretrained": "tfkit.hub",
        "generate": "tfkit.decode",
        "load": "tfkit.pipeline",
        "load_adapter": "tfkit.adapters",
        "lora": "tfkit.adapters",
        "substitute": "tfkit.substitution",
        "trace": "tfkit.tracing",
    },
)
