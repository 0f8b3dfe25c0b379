"""A figure of a few images of a run with their certificates: the ends of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

import numpy as np

from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.report.figures.style import printable, short, style
from smoothcert.rounding import floor_digits
from smoothcert.store import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CELL = 1.07  # inches per image
_FONT = 8.5  # points of a caption
_ROOM = 70 / _FONT  # widths of an em that a caption may take: a cell without the gap to its neighbour


@style()
def images_figure(run: Run, dataset: Dataset, count: int = 16) -> Figure:
    """Draw a few images of a run: the easiest, the hardest certified, abstained ones and wrong ones.

    Not a sample of the run: the ends of it, most extreme first. Radii are rounded down.

    Args:
        run: whose certificates to show.
        dataset: where its images come from; another data set is refused.
        count: most images to draw.
    """
    from matplotlib.figure import Figure

    if dataset.digest != run.manifest["dataset"]["digest"]:
        raise InvalidArgumentError(
            f"the run is about {run.manifest['dataset']['name']}, not about the given {dataset.name} "
            f"({dataset.split}): their digests differ; give the data set that was certified"
        )
    rows = extremes(run, count)
    columns = max(count // 2, 1)
    places = [place for groups in rows for group in groups.values() for place in group]
    captions = _captions(run, dataset, places)
    height = 1.27 + 0.17 * max(map(len, captions.values()))
    figure = Figure(figsize=(_CELL * (columns + 0.25), height * len(rows)), layout="constrained")
    outer = figure.add_gridspec(len(rows), 1)
    for number, groups in enumerate(rows):
        gap = len(next(iter(groups.values())))
        ratios = [*[1.0] * gap, 0.25, *[1.0] * (columns - gap)]
        cells = outer[number].subgridspec(1, columns + 1, width_ratios=ratios)
        for first, (title, places) in zip((0, gap + 1), groups.items(), strict=False):
            for column, place in enumerate(places, start=first):
                axes = figure.add_subplot(cells[column])
                _draw_image(axes, dataset, int(run.results.index[place]))
                axes.set_xlabel("\n".join(captions[place]), fontsize=_FONT)
                if column == first:
                    axes.set_title(title, loc="left", fontsize=9.5, fontweight="bold")
    return figure


def extremes(run: Run, count: int) -> list[dict[str, list[int]]]:
    """Return two rows of positions in the run, by heading; room a group cannot fill goes to its neighbour."""
    results, votes, half = run.results, np.asarray(run.column("samples")), max(count // 2, 1)
    order = np.lexsort((results.index, votes, -results.radius)).tolist()  # largest radius, then fewest votes
    correct, abstained = results.correct, results.predicted < 0
    easy = [i for i in order if correct[i]]
    unsure = [i for i in np.argsort(run.p_hat, kind="stable").tolist() if abstained[i]]
    wrong = [i for i in order if not correct[i] and not abstained[i]]
    top = _share({"easiest": easy, "abstained": unsure}, half)
    hard = [i for i in reversed(easy) if i not in top.get("easiest", [])]
    return [row for row in (top, _share({"hardest": hard, "wrong class": wrong}, half)) if row]


def _share(groups: dict[str, list[int]], places: int) -> dict[str, list[int]]:
    """Give two groups half of the places each, more where the other needs less; leave out empty ones."""
    (first, ours), (second, theirs) = groups.items()
    left = min(len(ours), max(places - places // 2, places - len(theirs)))
    shared = {first: ours[:left], second: theirs[: places - left]}
    return {title: chosen for title, chosen in shared.items() if chosen}


def _draw_image(axes: Axes, dataset: Dataset, index: int) -> None:
    pixels = dataset.image(index).numpy()
    if pixels.ndim == 3 and pixels.shape[0] in (1, 3):
        pixels = np.moveaxis(pixels, 0, 2) if pixels.shape[0] == 3 else pixels[0]
    elif pixels.ndim != 2:  # a vector: one row of grey cells
        pixels = pixels.reshape(1, -1)
    axes.imshow(np.clip(pixels, 0, 1), cmap="gray", vmin=0, vmax=1, interpolation="none")
    axes.set(xticks=[], yticks=[], anchor="N")  # room that is left over goes to the caption below
    axes.spines[:].set_visible(False)


def _captions(run: Run, dataset: Dataset, places: Sequence[int]) -> dict[int, list[str]]:
    """Return lines that fit under an image, by place in the run; a class has its own where a name is long."""
    results, names = run.results, dataset.class_names
    said: dict[int, list[tuple[str, str]]] = {}
    for place in places:
        certified = int(results.predicted[place])
        answer = names[certified] if 0 <= certified < len(names) else str(certified)
        label = ("label", names[results.label[place]])
        said[place] = [label] if certified < 0 else [label, ("certified", answer)]
    apart = any(_width(f"{word} {name}") > _ROOM for pairs in said.values() for word, name in pairs)
    return {
        place: [line for pair in said[place] for line in _lines(*pair, apart)] + _end(run, place)
        for place in places
    }


def _lines(word: str, name: str, apart: bool) -> list[str]:
    if not apart:
        return [f"{word} {printable(name)}"]
    first, _, rest = name.partition(" ")
    while rest and _width(f"{first} {rest.partition(' ')[0]}") <= _ROOM:
        more, _, rest = rest.partition(" ")
        first = f"{first} {more}"
    return [word, _fitting(first), *([_fitting(rest)] if rest else [])]


def _end(run: Run, place: int) -> list[str]:
    """Return the last lines of a caption: how far the certificate reaches, or what was spent in vain."""
    if run.results.predicted[place] < 0:
        return ["abstained", f"{run.column('samples')[place]:,} votes"]
    return [f"radius {floor_digits(run.results.radius[place], 3)}"]


def _width(text: str) -> float:
    """Return about how wide a text is, in widths of an em, in the widest of the usual fonts."""
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if east_asian_width(letter) in "WF":
        return 1.3  # as wide as the box that stands for a letter which a font lacks
    if letter in "mwMW@%…":
        return 1.0
    return 0.8 if letter.isupper() else 0.64


def _fitting(name: str) -> str:
    """Return as much of the end of a name as fits under an image, which tells classes of one kind apart."""
    most = max(len(name), 2)
    while most > 2 and _width(short(name, most)) > _ROOM:
        most -= 1
    return short(name, most)
