"""A package's names import their module when they are first used, once."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from tfkit.lazy import lazy_names


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("made_for_the_test")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    vars(made)["__getattr__"], vars(made)["__dir__"] = lazy_names(made.__name__, {"dumps": "json", "gone": "json"})
    return made


def test_a_name_is_imported_once(package: ModuleType) -> None:
    assert "dumps" not in vars(package) and "dumps" in dir(package)
    assert package.dumps is sys.modules["json"].dumps
    assert "dumps" in vars(package)


def test_a_name_that_is_nowhere_is_an_attribute_error(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match="'made_for_the_test' has no attribute 'absent'"):
        _ = package.absent
    with pytest.raises(AttributeError, match="gone"):
        _ = package.gone
