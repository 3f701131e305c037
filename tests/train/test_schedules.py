"""Learning-rate schedules."""

from __future__ import annotations

import pytest

from tfkit.train import linear_rate, noam_rate


def test_noam_is_the_paper_s_formula():
    assert noam_rate(4000, 512, 4000) == pytest.approx(512**-0.5 * 4000**-0.5)
    assert noam_rate(1, 512, 4000) == pytest.approx(512**-0.5 * 4000**-1.5)
    assert noam_rate(16000, 512, 4000) == pytest.approx(noam_rate(4000, 512, 4000) / 2)


def test_noam_peaks_where_warm_up_ends():
    assert max(range(1, 500), key=lambda step: noam_rate(step, 64, 100)) == 100


def test_linear_rises_and_falls():
    rates = [linear_rate(step, 1e-3, 10, 110) for step in (5, 10, 60, 110, 200)]
    assert rates == pytest.approx([5e-4, 1e-3, 5e-4, 0.0, 0.0])
