"""A page: a title, parts one below the other, and all they need inside one file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from bokeh.model import Model as PlotModel

_SHELL = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
{library}
</head>
<body>
<header>
<h1>{title}</h1>
<p class="subtitle">{subtitle}</p>
<button id="theme" type="button" title="light or dark">light / dark</button>
</header>
<nav>{contents}</nav>
<main>
{body}
</main>
{data}
<script>
{scripts}
</script>
</body>
</html>
"""


class Part(Protocol):
    """Something on a page."""

    def html(self, kit: Kit) -> str:
        """The part as HTML; what it needs beside (scripts, data, plots) is left in the kit."""
        ...


@dataclass(slots=True)
class Kit:
    """What the parts of one page need: scripts once each, data by number, plots together so that axes can be linked."""

    scripts: list[str] = field(default_factory=list)
    data: list[Any] = field(default_factory=list)
    plots: list[PlotModel] = field(default_factory=list)
    ranges: dict[str, Any] = field(default_factory=dict)  # x axes that plots share, by name
    contents: list[tuple[str, str]] = field(default_factory=list)  # anchor and text of each heading

    def script(self, name: str) -> None:
        """A script of `assets/` that this part needs."""
        if name not in self.scripts:
            self.scripts.append(name)

    def keep(self, value: Any) -> int:
        """Data for a script; it finds them by this number."""
        self.data.append(value)
        return len(self.data) - 1

    def plot(self, model: PlotModel) -> str:
        """A place for a plot."""
        self.plots.append(model)
        return f'<div class="plot" id="plot-{len(self.plots) - 1}"></div>'


@dataclass(frozen=True, slots=True)
class Page:
    """Title, a sentence below it, and the parts."""

    title: str
    subtitle: str
    parts: Sequence[Part]

    def html(self) -> str:
        """The whole file."""
        kit = Kit()
        body = "\n".join(part.html(kit) for part in self.parts)
        library, plots = _plots(kit)
        contents = " · ".join(f'<a href="#{anchor}">{escape(text)}</a>' for anchor, text in kit.contents)
        data = "\n".join(
            f'<script type="application/json" id="data-{i}">{as_json(value)}</script>'
            for i, value in enumerate(kit.data)
        )
        scripts = "\n".join(_asset(name) for name in ("theme.js", *kit.scripts))
        return _SHELL.format(
            title=escape(self.title),
            subtitle=escape(self.subtitle),
            style=_asset("page.css"),
            library=library,
            contents=contents,
            body=body,
            data=f"{data}\n{plots}",
            scripts=scripts,
        )


def write_page(page: Page, file: str | Path) -> Path:
    """Write a page; its path."""
    path = Path(file)
    path.write_text(page.html(), encoding="utf-8")
    return path


def as_json(value: Any) -> str:
    """JSON that may stand inside a script element; what is not a finite number is null."""
    return json.dumps(finite(value), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def finite(value: Any) -> Any:
    """The same with None for what JSON has no number for."""
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    return value


def _plots(kit: Kit) -> tuple[str, str]:
    """The plotting library, and the scripts that draw; both empty on a page without plots."""
    if not kit.plots:
        return "", ""
    from bokeh.embed import components
    from bokeh.resources import Resources

    script, places = components(tuple(kit.plots))
    moves = "\n".join(
        f'<template class="plot-source" data-for="plot-{i}">{place}</template>' for i, place in enumerate(places)
    )
    library = Resources(mode="inline", components=["bokeh"], log_level="warn").render_js()
    return library, f"{moves}\n<script>{_asset('plots.js')}</script>\n{script}"


def _asset(name: str) -> str:
    return resources.files("kilohertz.pages").joinpath("assets", name).read_text(encoding="utf-8")
