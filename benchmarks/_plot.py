"""A small plot as SVG: measured points, the straight line that they should follow, and a bar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

_WIDTH, _HEIGHT = 640, 360
_LEFT, _TOP, _RIGHT, _BOTTOM = 64, 40, 592, 304
_INK, _QUIET, _POINT, _BAR = "#24292f", "#d0d7de", "#0969da", "#cf222e"
_GRID = 5


@dataclass(frozen=True, slots=True)
class Plot:
    """What is drawn. ``straight`` is the point that the line from the origin goes through."""

    title: str
    across: str
    up: str
    points: Sequence[tuple[float, float]]
    straight: tuple[float, float]
    bar: float

    def svg(self) -> str:
        """The picture, the same for the same values; it fetches nothing."""
        view = f"0 0 {_WIDTH} {_HEIGHT}"
        root = ET.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=view, role="img")
        ET.SubElement(root, "title").text = self.title
        font = 'ui-sans-serif, system-ui, "DejaVu Sans", sans-serif'
        group = ET.SubElement(root, "g", {"font-family": font, "font-size": "12", "fill": _INK})
        ET.SubElement(group, "rect", width=str(_WIDTH), height=str(_HEIGHT), fill="#ffffff")
        self._text(group, (_LEFT + _RIGHT) / 2, 22, self.title, {"font-size": "14"})
        self._grid(group)
        self._line(group, [(0, self.bar), (self._most_across, self.bar)], _BAR)
        self._text(group, _RIGHT - 6, self._y(self.bar) - 6, f"bar: {self.bar:g}", {"text-anchor": "end", "fill": _BAR})
        slope = self.straight[1] / self.straight[0]
        self._line(group, [(0, 0), (self._most_across, self._most_across * slope)], _INK, dashes="4 4")
        for point in self.points:
            self._mark(group, point)
        ET.indent(root)
        return ET.tostring(root, encoding="unicode") + "\n"

    @property
    def _most_across(self) -> float:
        return max(x for x, _ in self.points)

    @property
    def _most_up(self) -> float:
        return 1.15 * max(self.bar, *(y for _, y in self.points))

    def _x(self, value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * value / self._most_across

    def _y(self, value: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * value / self._most_up

    def _grid(self, group: ET.Element) -> None:
        for step in range(_GRID + 1):
            x, y = self._most_across * step / _GRID, self.bar * step / _GRID
            self._line(group, [(x, 0), (x, self._most_up)], _QUIET)
            self._line(group, [(0, y), (self._most_across, y)], _QUIET)
            self._text(group, self._x(x), _BOTTOM + 18, f"{x:,.0f}", {})
            self._text(group, _LEFT - 8, self._y(y) + 4, f"{y:g}", {"text-anchor": "end"})
        self._text(group, (_LEFT + _RIGHT) / 2, _HEIGHT - 14, self.across, {})
        middle = (_TOP + _BOTTOM) / 2
        self._text(group, 20, middle, self.up, {"transform": f"rotate(-90 20 {middle:g})"})

    def _mark(self, group: ET.Element, point: tuple[float, float]) -> None:
        x, y = self._x(point[0]), self._y(point[1])
        ET.SubElement(group, "circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="4", fill=_POINT)
        self._text(group, x - 8, y - 8, f"{point[1]:.2f}", {"text-anchor": "end", "fill": _POINT})

    def _line(self, group: ET.Element, ends: Iterable[tuple[float, float]], ink: str, dashes: str = "none") -> None:
        points = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in ends)
        ET.SubElement(group, "polyline", {"points": points, "stroke": ink, "stroke-dasharray": dashes})

    @staticmethod
    def _text(group: ET.Element, x: float, y: float, words: str, more: dict[str, str]) -> None:
        place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": "middle", **more}
        ET.SubElement(group, "text", place).text = words
