"""The README's tree shows the folders that a clone has."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_tree_names_every_folder_with_a_clause() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no clone: there is no list of the folders that belong to it")
    command = ["git", "-C", str(ROOT), "ls-tree", "--name-only", "-d", "HEAD"]
    folders = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split()
    tree = (ROOT / "README.md").read_text(encoding="utf-8").partition("## The house\n")[2].partition("\n## ")[0]
    named = re.findall(r"^(\w+)/ +\S", tree, flags=re.M)
    assert sorted(named) == sorted(name for name in folders if not name.startswith("."))
