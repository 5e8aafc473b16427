"""What every picture is drawn on: a figure of one size and style, its colours, title and legend, and the file it goes to."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from api.pictures.text import ELLIPSIS, Lettering, short
from events.errors import InputError, refused

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

PICTURES: Mapping[str, str] = {".png": "png", ".svg": "svg"}
"""What a picture's file ends with, and its format."""

WIDTH, HEIGHT = 864.0, 576.0
"""Size of a picture in points (1/72 inch): 1,200 x 800 pixels at 100 dots an inch."""
SMALL, NORMAL, LARGE = 8.0, 9.0, 13.0
"""Sizes of letters, in points."""

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PINK, YELLOW = "#56B4E9", "#CC79A7", "#F0E442"
"""The colours of Okabe and Ito, told apart by the colour-blind too."""
GREY, INK, PALE = "#9AA0A6", "#202124", "#5F6368"

_NOT_ASCII = re.compile(r"[^\x20-\x7e]+")


@contextmanager
def needing_matplotlib() -> Iterator[None]:
    """Turns a missing library into an InputError that says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise InputError(
            f"pictures need {error.name}, which is not installed: pip install 'engramlog[pictures]'", missing=error.name
        ) from None


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; what stood there is replaced. Raises InputError where it cannot be written."""
    if not path.parent.is_dir():
        raise refused("out", str(path), "a file in a folder that exists")
    temporary = path.with_name(f".{uuid4().hex}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise refused("out", str(path), f"a file that can be written ({error.strerror})") from None


def format_of(path: Path) -> str:
    """`png` or `svg` by a file's suffix, or InputError."""
    try:
        return PICTURES[path.suffix.lower()]
    except KeyError:
        raise refused("out", path.name, f"a name that ends in {' or '.join(PICTURES)}") from None


@contextmanager
def house_style() -> Iterator[None]:
    """The style of the pictures whatever the user's own is, put back afterwards; for one thread at a time."""
    import matplotlib as mpl  # noqa: PLC0415 - an extra

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "engramlog", "axes.unicode_minus": False})
        yield


def new_figure(dpi: int, lettering: Lettering, title: str, subtitle: str) -> Figure:
    """An empty white figure under its title."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - an extra
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72), dpi=dpi, facecolor="white")
    FigureCanvasAgg(figure)
    titles = [
        (short(title, 100), ""),
        (short(_NOT_ASCII.sub(ELLIPSIS, title), 100), "a part of the title left out"),
    ]
    lines = (
        (lettering.write(titles, LARGE, "bold"), 22, INK),
        (lettering.write([(subtitle, "")], NORMAL), 40, PALE),
    )
    for (text, font), down, colour in lines:
        figure.text(
            20 / WIDTH, 1 - down / HEIGHT, text, fontproperties=font, color=colour, va="center", parse_math=False
        )
    return figure


class LegendEntry(NamedTuple):
    """A line of a legend: a marker, its colours, and what it stands for."""

    text: str
    font: FontProperties
    face: str
    edge: str = "white"
    marker: str = "o"


def add_legend(figure: Figure, entries: Sequence[LegendEntry]) -> None:
    """A legend along the bottom."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - an extra

    handles = [
        Line2D([], [], ls="", marker=entry.marker, ms=7, mfc=entry.face, mec=entry.edge, mew=1.2, label=f"{number}")
        for number, entry in enumerate(entries)
    ]
    legend = figure.legend(
        handles=handles,
        loc="lower center",
        ncols=min(len(handles), 6),
        frameon=False,
        handletextpad=0.2,
        columnspacing=1.4,
    )
    for text, entry in zip(legend.get_texts(), entries, strict=True):
        text.set(text=entry.text, fontproperties=entry.font, color=INK, parse_math=False)


def save(figure: Figure, path: Path) -> None:
    """Write the figure by the file's suffix; the same figure gives the same bytes. Raises InputError as replace_file does."""
    kind = format_of(path)
    content = BytesIO()
    with warnings.catch_warnings():
        # An SVG's letters are drawn by its viewer; here they are only measured, also those that no font here has.
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing", category=UserWarning)
        figure.savefig(content, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})
    replace_file(path, content.getvalue())
