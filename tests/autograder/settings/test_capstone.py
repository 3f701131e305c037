"""Budget and bands of a course."""

import pytest

from autograder.settings.capstone import BadTerms, Terms, read


def test_a_course_says_its_own(tmp_path):
    assert read(tmp_path) == Terms() == read(None)
    (tmp_path / "course.toml").write_text("[capstone]\nseconds = 30\nbands = [[0.2, 10], [1, 5]]\n")
    terms = read(tmp_path)
    assert (terms.seconds, terms.bands, terms.points) == (30, ((1.0, 5.0), (0.2, 10.0)), 10)
    assert [terms.points_for(excess) for excess in (2, 1, 0.5, 0.2, 0.0)] == [0, 5, 5, 10, 10]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("capstone = 3", r"\[capstone\] must be a table"),
        ("[capstone]\nminutes = 2", "has 'minutes', which is not one of seconds, letters, bands"),
        ("[capstone]\nseconds = 0", "seconds = 0 must be a number above 0"),
        ("[capstone]\nbands = [[1.0]]", r"bands = \[\[1.0\]\] must be pairs"),
        ("[capstone]\nbands = [[1.0, 5], [0.5, 2]]", "fewer bits never earn fewer points"),
        ("[capstone", "is not TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, said):
    (tmp_path / "course.toml").write_text(text)
    with pytest.raises(BadTerms, match=f"course.toml.*{said}"):
        read(tmp_path)
