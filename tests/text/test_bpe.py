"""Byte-pair encoding by hand."""

from __future__ import annotations

import pytest

from tfkit.text import apply_bpe, learn_bpe

SENNRICH = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def test_the_paper_s_example():
    merges = learn_bpe(SENNRICH, 10)
    assert merges[:3] == [("e", "s"), ("es", "t"), ("est", "</w>")]
    assert apply_bpe("lowest", merges) == ["low", "est</w>"]


def test_ties_go_to_the_smallest_pair():
    assert learn_bpe({"ba": 1, "ab": 1}, 1) == [("a", "</w>")]


def test_overlapping_pairs_count_and_merge_left_to_right():
    assert learn_bpe({"aaa": 1, "b": 1}, 1) == [("a", "a")]
    assert apply_bpe("aaa", [("a", "a")]) == ["aa", "a", "</w>"]


def test_stops_when_nothing_is_left():
    assert learn_bpe({"ab": 1}, 99) == [("a", "b"), ("ab", "</w>")]
    assert learn_bpe({}, 3) == []


def test_each_merge_is_applied_once_in_order():
    assert apply_bpe("abc", [("ab", "c"), ("a", "b")]) == ["ab", "c", "</w>"]


def test_symbols_spell_the_word():
    merges = learn_bpe(SENNRICH, 6)
    for word in ["slow", "newer", "été", ""]:
        assert "".join(apply_bpe(word, merges)) == word + "</w>"


def test_a_negative_number_of_merges_is_an_error():
    with pytest.raises(ValueError, match="num_merges=-1: give how many merges to learn, 0 or more"):
        learn_bpe({"ab": 1}, -1)


def test_words_that_nobody_counted_are_an_error():
    with pytest.raises(TypeError, match="word_counts is a list: give a dict"):
        learn_bpe(["ab"], 1)
