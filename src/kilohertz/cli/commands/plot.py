"""`khz plot`: signals of results on a page."""

from __future__ import annotations

import argparse
from pathlib import Path

from kilohertz.results import check_place, endings, read

_EXAMPLES = """\
examples:
  khz plot run.csv --signals 'load.*'                     run.html: every signal of the component in a frame
  khz plot run.csv reference.mat --signals x -o both.html the same signal of two results in one frame"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog, parser.formatter_class = _EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("results", metavar="RESULT", nargs="+", help=f"result files ({endings()})")
    parser.add_argument(
        "--signals", metavar="P", action="append", default=[], help="a name or pattern; may be repeated (default: all)"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="F",
        type=Path,
        help="a page, .html, or a picture, .png or .svg (default: RESULT.html, here)",
    )


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.driver.comparing.curves_page import curves_page
    from kilohertz.pages import check_page, save

    file = arguments.output or Path(Path(arguments.results[0]).stem + ".html")
    check_page(file)
    check_place(file)
    results = [(Path(name).name, read(name)) for name in arguments.results]
    save(curves_page(results, arguments.signals), file)
    print(f"wrote {file}")
    return 0
