"""Pictures as SVG elements inside a page: colours and fonts are the page's, lines can be hidden, points tell values."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from incast.pictures.style import COLOURS, GREY, GRID, INK, OTHERS, line

_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_LINE = re.compile(r"line-(\d+)(?:-tips-(\d+))?")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""Characters of names that XML does not allow."""
LONGEST = 1 << 20
"""Most characters of a picture in a page: one of very many points is a PNG picture, white in a dark page too."""
_NUMBER = re.compile(r"-?\d+\.\d{2,}")

VARIABLES = {
    **{colour.lower(): f"--c{number}" for number, colour in enumerate(COLOURS, 1)},
    INK: "--ink",
    GRID: "--grid",
    GREY: "--edge",
    OTHERS: "--other",
    "#ffffff": "--ground",
    "#000000": "--ink",
}
"""Variables of the page's style sheet by the colours of pictures."""


def belongs(artist: Artist, number: int, tips: Sequence[str] = ()) -> None:
    """Note that an artist is a part of the line of this number, and the texts that its points tell."""
    canvas = artist.get_figure(root=True)
    gid = f"line-{number}"
    if tips and canvas is not None:
        told = vars(canvas).setdefault("told", [])
        gid = f"{gid}-tips-{len(told)}"
        told.append(list(tips))
    artist.set_gid(gid)
    if isinstance(artist, Annotation) and artist.arrow_patch is not None:
        artist.arrow_patch.set_gid(gid)


def svg(canvas: Figure, name: str) -> str:
    """Write a canvas as an SVG element in CSS pixels; ``name`` makes its identifiers unique in the page."""
    buffer = io.StringIO()
    with rc_context({"svg.hashsalt": f"incast-{name}", "svg.fonttype": "none"}):
        canvas.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, facecolor="none")
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    root = ElementTree.fromstring(_FORBIDDEN.sub("\ufffd", buffer.getvalue()))
    for kind in ("metadata", "style"):
        for parent in list(root.iter()):
            for child in [one for one in parent if one.tag == f"{{{_SVG}}}{kind}"]:
                parent.remove(child)
    text = ElementTree.tostring(root, encoding="unicode")
    # numbers in order: Matplotlib's identifiers of clipped images differ from run to run
    used = {own: f"{name}-{i}" for i, own in enumerate(dict.fromkeys(re.findall(r"[(\"]#([\w.-]+)[)\"]", text)))}
    told: list[list[str]] = vars(canvas).get("told", [])
    for element in root.iter():
        _adapt(element, used, told)
    width, height = canvas.get_size_inches() * 96
    root.attrib.update({"width": f"{width:.0f}", "height": f"{height:.0f}", "role": "img"})
    root.attrib.pop("version", None)
    made = ElementTree.tostring(root, encoding="unicode")
    return re.sub(r"\s*\n\s*", "\n", made).strip()


def elements(canvases: Mapping[str, Figure], pngs: Mapping[str, bytes]) -> dict[str, str]:
    """Write canvases as elements of a page, by name: SVG, or the PNG picture where that would be too large."""
    return {name: _element(canvas, name, pngs[name]) for name, canvas in canvases.items()}


def _element(canvas: Figure, name: str, png: bytes) -> str:
    made = svg(canvas, name)
    if len(made) <= LONGEST:
        return made
    return f'<img src="data:image/png;base64,{base64.b64encode(png).decode("ascii")}">'


def _adapt(element: ElementTree.Element, used: Mapping[str, str], told: Sequence[Sequence[str]]) -> None:
    """Rewrite an element for a page: variables for colours, short numbers, unique identifiers, lines and their tips."""
    own = element.attrib.pop("id", "")
    if found := _LINE.fullmatch(own):
        element.set("data-line", found[1])
        points = [one for one in element.iter() if one.tag == f"{{{_SVG}}}use"]
        tips = told[int(found[2])] if found[2] else []
        if len(points) == len(tips):
            for point, tip in zip(points, tips, strict=True):
                ElementTree.SubElement(point, f"{{{_SVG}}}title").text = tip
    elif own in used:
        element.set("id", used[own])
    for key, value in element.attrib.items():
        if key == "style":
            value = re.sub(r"#[0-9a-fA-F]{6}", _variable, value)
            value = re.sub(r"font: ([\d.]+px)[^;]*|font-family:[^;]*;?", _font, value)
        if key in ("clip-path", f"{{{_LINK}}}href", "style"):
            value = re.sub(r"(^|\()#([\w.-]+)(?=\)|$)", lambda link: f"{link[1]}#{used.get(link[2], link[2])}", value)
        if key in ("d", "x", "y", "width", "height", "transform", "points"):
            value = _NUMBER.sub(lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), value)
        element.set(key, value)
    if element.tag == f"{{{_SVG}}}path" and "d" in element.attrib:
        element.set("d", re.sub(r"\s+", " ", element.attrib["d"]).strip())


def _variable(colour: re.Match[str]) -> str:
    known = VARIABLES.get(colour[0].lower())
    return f"var({known})" if known else colour[0]


def _font(found: re.Match[str]) -> str:
    return f"font-size: {found[1]}" if found[1] else ""


_DASHES = {"-": "", "--": "7 3", "-.": "7 3 2 3", ":": "2 3"}
_SHAPES = {
    "o": '<circle cx="13" cy="6" r="3.4"/>',
    "s": '<path d="M9.6 2.6h6.8v6.8h-6.8z"/>',
    "^": '<path d="M13 2l4.3 7.5h-8.6z"/>',
    "D": '<path d="M13 1.5l4.4 4.5l-4.4 4.5l-4.4-4.5z"/>',
    "v": '<path d="M13 10l4.3-7.5h-8.6z"/>',
    "P": '<path d="M11.6 2h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z"/>',
    "X": '<path d="M9.5 4l2-2l1.5 1.5l1.5-1.5l2 2l-2 2l2 2l-2 2l-1.5-1.5l-1.5 1.5l-2-2l2-2z"/>',
    "*": '<path d="M13 1l1.4 3.5l3.8 .2l-3 2.4l1 3.7l-3.2-2l-3.2 2l1-3.7l-3-2.4l3.8-.2z"/>',
}


def swatch(number: int) -> str:
    """Return a short line with its marker as an SVG element: the style of the line of this number."""
    look = line(number)
    dash = look["linestyle"]
    dashes = _DASHES[dash] if isinstance(dash, str) else " ".join(map(str, dash[1]))
    colour = f"var({VARIABLES[look['color'].lower()]})"
    return (
        f'<svg width="26" height="12" viewBox="0 0 26 12" aria-hidden="true" style="fill:{colour}">'
        f'<path d="M0 6H26" fill="none" style="stroke:{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
        f"{_SHAPES[look['marker']]}</svg>"
    )
