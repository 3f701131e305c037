"""How large a class one grader carries: measured service times, a simulated term, and a real run beside it.

`python -m course.scale` simulates with the times that `docs/scale.json` keeps, and writes docs/scale.md and its figure;
`--measure` measures the times here first; `--real N` grades N real submissions in one run and keeps its memory.
"""
