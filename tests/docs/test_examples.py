"""The Python of README and the library's handbook runs as it stands, in order, with the model that it names."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "docs/library.md")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
MODEL = "SmolLM2-135M-Instruct"


def blocks(document: str) -> list[tuple[int, str]]:
    """(line, source) of each Python block."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [(text.count("\n", 0, match.start(1)) + 1, match[1]) for match in BLOCK.finditer(text)]


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_blocks_of_a_document_run_in_order(document: str, tmp_path: Path) -> None:
    """In a process and a folder of their own, as a reader would type them."""
    found = blocks(document)
    assert len(found) >= 2
    padded = "".join(f"exec(compile({chr(10) * (line - 1) + code!r}, {document!r}, 'exec'))\n" for line, code in found)
    subprocess.run([sys.executable, "-m", "tfkit_course", "get", MODEL, "--yes"], check=True, timeout=500)
    file = tmp_path / "blocks.py"
    file.write_text(padded, encoding="utf-8")
    done = subprocess.run([sys.executable, str(file)], cwd=tmp_path, capture_output=True, text=True, timeout=580)
    assert done.returncode == 0, done.stderr[-3000:]
