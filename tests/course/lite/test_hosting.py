"""What a static host is told of the site: what may be kept, and where to go from a wrong address."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from course.lite import hosting


@pytest.fixture
def site(tmp_path: Path) -> Path:
    names = ("1.a8fa7b2.js", "214.43761e7.js", "service-worker.js", "lab/bundle.js", "3.txt", "3.0123abc.js")
    for name in names:
        (tmp_path / "build" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "build" / name).touch()
    hosting.write_hosting(tmp_path)
    return tmp_path


def rules(text: str) -> dict[str, list[str]]:
    """Path → its headers, of a file `_headers`."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("  "):
            found[list(found)[-1]].append(line.strip())
        else:
            found[line] = []
    return found


def test_only_what_is_named_by_its_content_is_kept(site: Path) -> None:
    found = rules((site / "_headers").read_text(encoding="utf-8"))
    kept = [path for path, headers in found.items() if any("immutable" in one for one in headers)]
    assert kept == ["/build/1*", "/build/2*"]  # another file begins with a 3
    assert not [one for one in found["/*"] if one.startswith("Cache-Control")]  # it would be joined with the others
    apache = (site / ".htaccess").read_text(encoding="utf-8")
    (pattern,) = re.findall(r'FilesMatch "(.*)"', apache)
    names = ["1.a8fa7b2.js", "bundle.js", "service-worker.js", "index.html", "tfkit_course-0.1.0-py3-none-any.whl"]
    assert [name for name in names if re.search(pattern, name)] == ["1.a8fa7b2.js"]
    assert apache.index('"no-cache"') < apache.index("immutable") and "ErrorDocument 404 /404.html" in apache
    assert (site / ".nojekyll").is_file()


def test_the_page_for_wrong_addresses_loads_nothing_and_finds_the_course(site: Path) -> None:
    page = (site / "404.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="(?!/")', page) and "jupyter-lite.json" in page and 'lang="fr"' in page


def test_a_site_without_scripts_has_no_rule_for_them(tmp_path: Path) -> None:
    hosting.write_hosting(tmp_path)
    assert "build" not in (tmp_path / "_headers").read_text(encoding="utf-8")
