"""Certificates and figures in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..models.training import Measure


def gap_in_words(certificate: Any) -> str:
    """The distance of a solution from the best possible one, in words.

    Examples
    --------
    >>> from maxmargin.dual import Certificate
    >>> from maxmargin.report.words import gap_in_words
    >>> gap_in_words(Certificate(100.0003, 100.0, 0.0003, 1e-4, 0.0))
    'at most 0.0003 % above the best possible objective'
    >>> gap_in_words(Certificate(100.0, 100.0, 0.0, 0.0, 0.0))
    'at the best possible objective, to all digits of float64'
    """
    gap = certificate.relative_gap
    if not np.isfinite(gap):
        return "not proven to be close to the optimum"
    if gap <= 1e-12:
        return "at the best possible objective, to all digits of float64"
    return f"at most {percent(100.0 * gap)} % above the best possible objective"


def percent(value: float) -> str:
    """Two digits, rounded up, so that the claim holds."""
    if value <= 0:
        return "0"
    size = 10.0 ** (np.floor(np.log10(value)) - 1)
    value = float(np.ceil(value / size - 1e-9) * size)
    if value < 1e-9:
        return f"{value:.2g}"
    text = f"{value:.{max(0, -round(np.log10(size)))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def certificate_lines(certificate: Any) -> list[tuple[str, str]]:
    """The description of a certificate, line by line."""
    names = getattr(certificate, "names", None)
    lines = [("quality", gap_in_words(certificate))]
    if names is None:
        lines += [("primal value", f"{certificate.primal:.6g}")]
        lines += [("dual value", f"{certificate.dual:.6g}")]
    else:
        primal, dual = (sum(getattr(c, side) for c in certificate) for side in ("primal", "dual"))
        lines += [("problems", f"{len(certificate)}, all of them proven")]
        lines += [("primal values", f"{primal:.6g}, together")]
        lines += [("dual values", f"{dual:.6g}, together")]
    lines += [("duality gap", f"{certificate.gap:.2g}")]
    lines += [("largest violation", f"{certificate.violation:.2g}")]
    return lines


def digits_below_one(share: float) -> int:
    """Enough decimals to keep a fraction below 1 from being printed as 100 %."""
    digits = 1
    while share < 1.0 and digits < 5 and round(100.0 * share, digits) >= 100.0:
        digits += 1
    return digits


def below_one(value: float) -> str:
    """Four digits, more where a value below 1 would read as 1."""
    digits = 4
    while value < 1.0 and digits < 9 and float(f"{value:.{digits}g}") >= 1.0:
        digits += 1
    return f"{value:.{digits}g}"


def measure_in_figures(measure: Measure) -> tuple[str, str, str]:
    """Value, lower and upper bound, with more digits where 100.0 or 1 would not be true; bounds are
    empty where there are none."""
    numbers = (measure.value, measure.low, measure.high)
    if measure.name in ("accuracy", "balanced accuracy"):
        digits = max((digits_below_one(x) for x in numbers if np.isfinite(x)), default=1)
        value, low, high = (f"{100 * x:.{digits}f}" for x in numbers)
        value += " %"
    else:
        figures = below_one if measure.name in ("R²", "area under ROC") else "{:.4g}".format
        value, low, high = (figures(x) for x in numbers)
    return (value, low, high) if np.isfinite(measure.low) else (value, "", "")


def measure_in_words(measure: Measure) -> str:
    """``accuracy 97.2 % (95.1 – 98.4)``."""
    value, low, high = measure_in_figures(measure)
    return f"{measure.name} {value} ({low} – {high})" if low else f"{measure.name} {value}"
