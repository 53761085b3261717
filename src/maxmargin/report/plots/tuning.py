"""Plots of a parameter search: the landscape over C and γ, and the path through it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...models.files import chosen_machine
from ...models.training import SearchTable
from .display import BLACK, BLUE, VERMILLION, Display

# Stages whose small values are good, and those that walk instead of trying points side by side.
SMALL_IS_GOOD = ("error", "path of C", "span", "radius")
WALKS = ("Rprop", "CMA")
# Walks with noise, which end where they stand and not at the luckiest value.
NOISY = ("NoisyRprop", "CMA")


class Part(NamedTuple):
    """The points of one kind of stage: coordinates in log₁₀, and values."""

    name: str
    columns: dict[str, np.ndarray]
    values: np.ndarray

    @property
    def walks(self) -> bool:
        return any(word in self.name for word in WALKS)

    @property
    def small_is_good(self) -> bool:
        return any(word in self.name for word in SMALL_IS_GOOD)

    @property
    def better(self) -> str:
        return "lower" if self.small_is_good else "higher"

    @property
    def title(self) -> str:
        return "cross-validation error" if "path of C" in self.name else self.name

    @property
    def good(self) -> np.ndarray:
        """Values with the sign such that larger is better."""
        return -self.values if self.small_is_good else self.values

    def colours(self) -> dict[str, Any]:
        """Brighter is better; the worst 15 % of the values share the darkest colour."""
        low, high = self.values.min(), self.values.max()
        if self.small_is_good:
            return {
                "vmin": low,
                "vmax": np.percentile(self.values, 85),
                "cmap": "viridis_r",
            }
        return {"vmin": np.percentile(self.values, 15), "vmax": high, "cmap": "viridis"}

    @property
    def chosen(self) -> int:
        """The result of the stage: the best point; ties go to the smallest C."""
        if any(word in self.name for word in NOISY):
            return self.values.size - 1
        best = np.flatnonzero(self.good >= self.good.max() - 1e-12)
        return int(
            best[np.argmin(self.columns["log_C"][best])] if "log_C" in self.columns else best[0]
        )


class TuningDisplay(Display):
    """Every point tried, coloured by its value, the path of the search, and its end.

    Over two parameters (C and γ, or those that moved most) it is a landscape; where they were tuned
    one after the other, there is a curve for each.

    Parameters
    ----------
    table : SearchTable

    Examples
    --------
    >>> from maxmargin import SVCSearch
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.report import TuningDisplay
    >>> X, y = chess_board(150, random_state=0)
    >>> display = TuningDisplay.from_estimator(SVCSearch(strategy="grid").fit(X, y))
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('C', 'γ')
    """

    def __init__(self, *, table: SearchTable) -> None:
        self.table = table
        self.chosen = {name: value / np.log(10.0) for name, value in table.chosen.items()}
        names = list(dict.fromkeys(table.stage.tolist()))
        self.parts = [self._part(name) for name in names]
        self.plane = self._two_names()
        self.curves = [] if self.plane else self._single_names()
        self.panels = (1, max(1, len(self.curves)))
        if len(self.curves) > 1:
            self.size = (9.6, 4.2)

    @classmethod
    def from_estimator(cls, search: Any, *, ax: Any = None) -> TuningDisplay:
        """Plot the search of a fitted `AutoSVC` or `SVCSearch`.

        Parameters
        ----------
        search : AutoSVC or SVCSearch
        ax : Axes, optional
        """
        chosen_machine(search)
        found = search.search_
        point = getattr(found, "point", found)
        return cls(table=search_table(found.stages, str(found), point)).plot(ax)

    @classmethod
    def from_table(cls, table: SearchTable, *, ax: Any = None) -> TuningDisplay:
        """Plot the search in a table.

        Parameters
        ----------
        table : SearchTable
        ax : Axes, optional
        """
        return cls(table=table).plot(ax)

    def _part(self, name: str) -> Part:
        rows = (self.table.stage == name) & np.isfinite(self.table.value)
        columns = {
            key: column[rows] / np.log(10.0)
            for key, column in self.table.parameters.items()
            if np.isfinite(column[rows]).all()
        }
        return Part(name, columns, self.table.value[rows])

    def _two_names(self) -> tuple[str, str] | None:
        """The two parameters that were tuned together, if any."""
        for part in sorted(self.parts, key=lambda part: (part.walks, -part.values.size)):
            moved = _moved(part)
            if len(moved) >= 2:
                first, second = sorted(moved[:2], key=_rank)
                return first, second
        return None

    def _single_names(self) -> list[str]:
        names = dict.fromkeys(name for part in self.parts for name in _moved(part)[:1])
        return sorted(names, key=_rank)[:2]

    def _draw(self, ax: Any) -> None:
        if self.plane is not None:
            self._draw_plane(ax, *self.plane)
            return
        axes = np.ravel(ax)
        for panel, name in zip(axes, self.curves):
            parts = [part for part in self.parts if name in _moved(part)]
            self._draw_curve(panel, name, together(parts, name))

    def _draw_plane(self, ax: Any, first: str, second: str) -> None:
        parts = [part for part in self.parts if {first, second} <= set(part.columns)]
        grounds = [part for part in parts if not part.walks and len(_moved(part)) > 1]
        walks = [part for part in parts if part.walks]
        ground = max(grounds or walks, key=lambda part: part.values.size)
        x, y, good = ground.columns[first], ground.columns[second], ground.good
        order = np.argsort(good, kind="stable")
        style = {"c": ground.values[order], **ground.colours()}
        marker, size = ("s", 120) if grounds and ground.values.size < 400 else ("o", 14)
        shown = ax.scatter(x[order], y[order], marker=marker, s=size, linewidths=0, **style)
        bar = ax.figure.colorbar(shown, ax=ax, extend="max" if ground.small_is_good else "min")
        bar.set_label(f"{ground.title} ({ground.better} is better)", fontsize=10)
        bar.ax.tick_params(labelsize=10)
        last = next(part for part in self.parts if part.name == self.table.stage[-1])
        last = last if last in parts else (walks or [ground])[-1]
        end = [self.chosen.get(name, last.columns[name][last.chosen]) for name in (first, second)]
        if grounds and walks:
            steps = walks[-1]
            stride = max(1, steps.values.size // 400)
            path = [steps.columns[name][::stride] for name in (first, second)]
            ax.plot(*path, color="white", linewidth=3.0, alpha=0.8)
            ax.plot(*path, color=BLACK, linewidth=1.2, label=steps.name)
        style = {"marker": "*", "s": 300, "color": VERMILLION, "edgecolors": "white"}
        ax.scatter(*end, label="chosen", zorder=5, **style)
        logarithmic(ax.xaxis, first)
        logarithmic(ax.yaxis, second)
        ax.set_title("points tried by the search")
        ax.grid(False)
        ax.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, fontsize=10, handlelength=1.2
        )

    def _draw_curve(self, ax: Any, name: str, part: Part) -> None:
        order = np.argsort(part.columns[name], kind="stable")
        style = {"color": BLUE, "marker": "o", "markersize": 4}
        ax.plot(part.columns[name][order], part.values[order], **style)
        best = part.chosen
        if name in self.chosen:
            best = int(np.argmin(np.abs(part.columns[name] - self.chosen[name])))
        star = {"marker": "*", "s": 260, "color": VERMILLION, "edgecolors": "white", "zorder": 5}
        label = f"chosen: {part.values[best]:.4g}"
        ax.scatter(part.columns[name][best], part.values[best], label=label, **star)
        logarithmic(ax.xaxis, name)
        ax.set_ylabel("error" if "path of C" in part.name else "value")
        title = part.name if len(part.name) < 40 else part.name[:39] + "…"
        ax.set_title("cross-validation along C" if "path of C" in part.name else title)
        ax.legend(loc="best")


def together(parts: list[Part], name: str) -> Part:
    """The last part, with the coarse grid of the same objective before it."""
    last = parts[-1]
    if len(parts) == 1 or not last.walks or not parts[0].name.startswith("coarse grid"):
        return last
    column = np.concatenate([parts[0].columns[name], last.columns[name]])
    return Part(last.name, {name: column}, np.concatenate([parts[0].values, last.values]))


def search_table(stages: Any, summary: str, point: Any) -> SearchTable:
    """The histories of all stages of a search, concatenated, and the point that it chose.

    Coordinates that a stage did not change have the value of its best point.
    """
    known = ("evaluation", "seconds", "value")
    columns: dict[str, list[np.ndarray]] = {}
    lengths = [len(stage.history["value"]) for stage in stages]
    names = dict.fromkeys(
        name for stage in stages for name in (*stage.result.point.names, *stage.history)
    )
    for name in names:
        if name in known:
            continue
        columns[name] = [_column(stage, name, length) for stage, length in zip(stages, lengths)]
    return SearchTable(
        summary,
        np.repeat([stage.what for stage in stages], lengths),
        np.concatenate([stage.history["value"] for stage in stages]),
        {name: np.concatenate(parts) for name, parts in columns.items()},
        chosen_coordinates(stages, point),
    )


def chosen_coordinates(stages: Any, point: Any) -> dict[str, float]:
    """Of the point with a kernel and a C that a search chose, as its stages have them.

    The stage that found it is the last one that ended at this C; its kernel may be in other units.
    """
    ends = [stage.result.point for stage in stages if "log_C" in stage.result.point.names]
    found = [end for end in ends if np.isclose(end.C, point.C, rtol=1e-9, atol=0.0)]
    end = found[-1] if found else point
    names, theta = getattr(end, "names", ()), getattr(end, "theta", ())
    coordinates = dict(zip(names, map(float, theta))) | {"log_C": float(np.log(point.C))}
    if getattr(point, "epsilon", None):
        coordinates["log_epsilon"] = float(np.log(point.epsilon))
    return coordinates


def _column(stage: Any, name: str, length: int) -> np.ndarray:
    if name in stage.history:
        return np.asarray(stage.history[name], dtype=np.float64)
    point = stage.result.point
    fixed = dict(zip(point.names, point.theta))
    return np.full(length, fixed.get(name, np.nan))


def logarithmic(axis: Any, name: str) -> None:
    """Ticks for a coordinate that is a logarithm to base ten."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    low, high = sorted(axis.get_view_interval())
    wide = high - low > 2.5
    axis.set_major_locator(MaxNLocator(integer=wide, nbins=6))

    def text(value: float, _: Any) -> str:
        return f"$10^{{{value:g}}}$" if wide else f"{10.0**value:.3g}"

    axis.set_major_formatter(FuncFormatter(text))
    spoken = name.removeprefix("log_").replace("gamma", "γ").replace("epsilon", "ε")
    axis.set_label_text(spoken)


def _moved(part: Part) -> list[str]:
    """The coordinates that took several values, C and γ first."""
    names = [name for name, column in part.columns.items() if column.size and np.ptp(column) > 0]
    return sorted(names, key=lambda name: (_rank(name), -np.ptp(part.columns[name])))


def _rank(name: str) -> int:
    """C comes first, then γ, then others."""
    return {"log_C": 0, "log_gamma": 1}.get(name, 2)
