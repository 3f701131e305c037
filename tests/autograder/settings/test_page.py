"""docs/settings.md shows every key of course.toml as autograder.settings.course_file has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.settings import page
from autograder.settings.course_file import TABLES, TOP

PAGE = Path(__file__).parents[3] / "docs/settings.md"


def test_the_page_is_as_it_would_be_written() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page.with_tables(text) == text, "run `python -m autograder.settings.page docs/settings.md`"


def test_only_the_tables_are_rewritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "settings.md"
    file.write_text("# Mine\n### At the top\n| old |\n### `[gone]`\n\n## teams.toml\nThe rest.\n", encoding="utf-8")
    assert page.main([str(file)]) == 0 and capsys.readouterr().out == f"wrote {file}\n"
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# Mine\n### At the top\n| key |") and text.endswith("\n\n## teams.toml\nThe rest.\n")
    assert "| old |" not in text and "[gone]" not in text and page.with_tables(text) == text
    for table in (TOP, *TABLES):
        assert all(f"\n| `{key.name}` | {key.type.words} | " in text for key in table.keys)
    assert "| `seconds` | a number above 0 | `120.0` | of processor time" in text
    assert '| `language` | a gettext language code, such as "fr" | `"en"` |' in text


@pytest.mark.parametrize("text", ["# Nothing\n", "### At the top\n", None])
def test_a_file_without_a_place_for_the_tables_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None
) -> None:
    file = tmp_path / "settings.md"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        page.main([str(file)])
    assert end.value.code == 2 and str(file) in capsys.readouterr().err
    assert text is None or file.read_text(encoding="utf-8") == text
