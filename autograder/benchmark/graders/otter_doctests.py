"""Doctest cases, as in the OK format of Otter-Grader's documentation: printed output is compared.

Follows Otter-Grader's user guide, "Test files" (OK-formatted tests: suites of cases whose `code` is doctest text, run
in the student's environment). Written for these exercises by this project.
"""

from __future__ import annotations

from autograder.benchmark.grader import TestSource

# Each case is on one line: prompts at the beginning of lines would be stripped before the cell runs.
RUN = """
import doctest as _doctest
_test = _doctest.DocTestParser().get_doctest({cases!r}, dict(globals()), "case", None, 0)
assert _test.examples, "no case was found"
_runner = _doctest.DocTestRunner(verbose=False)
_printed = []
_runner.run(_test, out=_printed.append)
assert _runner.failures == 0, "".join(_printed)
"""

CASES = {
    "attention.scaled_dot_product": """
>>> import torch
>>> q = k = v = torch.eye(3).unsqueeze(0)
>>> output, weights = scaled_dot_product_attention(q, k, v)
>>> output.shape
torch.Size([1, 3, 3])
>>> [round(float(x), 3) for x in weights[0, 0]]
[0.471, 0.264, 0.264]
>>> mask = torch.tensor([[True, False, False], [True, True, False], [True, True, True]])
>>> output, weights = scaled_dot_product_attention(q, k, v, mask)
>>> [round(float(x), 3) for x in weights[0, 0]]
[1.0, 0.0, 0.0]
""",
    "masks.causal": """
>>> causal_mask(3).tolist()
[[True, False, False], [True, True, False], [True, True, True]]
>>> int(causal_mask(10).sum())
55
""",
    "masks.softmax": """
>>> import torch
>>> weights = masked_softmax(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[True, True, False]]))
>>> [round(float(x), 4) for x in weights[0]]
[0.2689, 0.7311, 0.0]
>>> round(float(masked_softmax(torch.zeros(1, 4), torch.ones(1, 4, dtype=torch.bool)).sum()), 4)
1.0
""",
    "positions.sinusoidal": """
>>> table = sinusoidal_positions(4, 4)
>>> table.shape
torch.Size([4, 4])
>>> [abs(round(float(x), 3)) for x in table[0]]
[0.0, 1.0, 0.0, 1.0]
>>> [round(float(x), 3) for x in table[1]]
[0.841, 0.54, 0.01, 1.0]
""",
    "decoding.top_k": """
>>> import torch
>>> top_k_filter(torch.tensor([[1.0, 3.0, 2.0]]), 1).tolist()
[[-inf, 3.0, -inf]]
>>> top_k_filter(torch.tensor([[1.0, 3.0, 2.0]]), 3).tolist()
[[1.0, 3.0, 2.0]]
""",
    "training.noam": """
>>> round(noam_rate(1, 512, 4000), 12)
1.74693e-07
>>> round(noam_rate(4000, 512, 4000), 9)
0.000698771
>>> round(noam_rate(16000, 512, 4000), 9)
0.000349386
""",
    "tokenizers.bpe_train": """
>>> learn_bpe({"low": 5, "lower": 2, "newest": 6, "widest": 3}, 3)
[('e', 's'), ('es', 't'), ('est', '</w>')]
>>> learn_bpe({"a": 1}, 10)
[('a', '</w>')]
""",
}

GRADER = TestSource(
    title="doctest cases",
    follows="Otter-Grader's user guide, OK-formatted tests; written by this project",
    tests={exercise: RUN.format(cases=cases.strip() + "\n") for exercise, cases in CASES.items()},
)
