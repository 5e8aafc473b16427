"""The course of a simulation, drawn with the letters of a terminal: events a second above, seconds behind below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log10
from typing import Any

from ops.planning.simulation.flows import Sample

NARROWEST, LOWEST = 60, 12
LEAST_LAG = 0.001
_DECADES = (
    (0.001, "1 ms"),
    (0.01, "10 ms"),
    (0.1, "0.1 s"),
    (1.0, "1 s"),
    (10.0, "10 s"),
    (100.0, "100 s"),
    (1_000.0, "1,000 s"),
)


def course(samples: Sequence[Sample], width: int, height: int = 26) -> str:
    """Lines of text with ANSI colours; `width` in columns, `height` in rows, both at least what can be read."""
    import plotext  # noqa: PLC0415 - only this needs it

    wide, high = max(width, NARROWEST), max(height, 2 * LOWEST)
    hours = [one.at / 3_600.0 for one in samples]
    figure: Any = plotext.figure
    plotext.terminal.limit(width=False, height=False)
    try:
        figure.clear()
        figure.plot_size(wide, high)
        figure.subplots(2, 1)
        rates = figure.subplot(1, 1)
        rates.theme("simple")
        rates.title("events a second, appended")
        xs, ys = _thinned(hours, [one.appended for one in samples], wide * 2, max)
        rates.draw(rates.signal(xs, ys, marker="braille").lines())
        most = max(*ys, 1.0)
        rates.ruler("y").lim(0.0, most)
        rates.ruler("y").ticks([0.0, most / 2, most], ["0", f"{most / 2:,.0f}", f"{most:,.0f}"])
        _hours(rates, hours[-1])
        lags = figure.subplot(2, 1)
        lags.theme("simple")
        lags.title("seconds behind: of the worst partition, and of half the events")
        highest = LEAST_LAG
        for values in ([one.lag_worst for one in samples], [one.lag_half for one in samples]):
            xs, ys = _thinned(hours, [max(value, LEAST_LAG) for value in values], wide * 2, max)
            levels = [_decade(y) for y in ys]
            lags.draw(lags.signal(xs, levels, marker="braille").lines())
            highest = max(highest, *ys)
        ticks = [(_decade(at), text) for at, text in _DECADES if at <= highest * 10]
        lags.ruler("y").lim(_decade(LEAST_LAG), ticks[-1][0])
        lags.ruler("y").ticks([at for at, _ in ticks], [text for _, text in ticks])
        _hours(lags, hours[-1])
        return str(figure.build()).rstrip("\n")
    finally:
        figure.clear()
        plotext.terminal.limit()


def _hours(panel: Any, last: float) -> None:
    panel.ruler("x").lim(0.0, last)
    ticks = [last * step / 6 for step in range(7)]
    names = [f"{tick:g} h" if last >= 6 else f"{tick * 60:.3g} min" for tick in ticks]
    panel.ruler("x").ticks(ticks, names)


def _decade(value: float) -> float:
    return log10(value)


def _thinned(
    xs: Sequence[float], ys: Sequence[float], most: int, kept: Callable[[Sequence[float]], float]
) -> tuple[list[float], list[float]]:
    """At most so many points; of each stretch of time what is kept, so that a peak stays one."""
    first, last = xs[0], xs[-1]
    stretches: dict[int, list[int]] = {}
    for place, x in enumerate(xs):
        stretches.setdefault(int((x - first) / max(last - first, 1e-9) * (most - 1)), []).append(place)
    places = [stretches[number] for number in sorted(stretches)]
    return [xs[some[0]] for some in places], [kept([ys[one] for one in some]) for some in places]
