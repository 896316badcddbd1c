"""`khz plot`: signals of results on a page."""

from __future__ import annotations

import argparse
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError
from kilohertz.results import check_place, endings, read

_EXAMPLES = """\
examples:
  khz plot run.csv --signals 'load.*'                     run.html: every signal of the component in a frame
  khz plot run.csv reference.mat --signals x -o both.html the same signal of two results in one frame"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog, parser.formatter_class = _EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("results", metavar="RESULT", nargs="+", help=f"result files ({endings()})")
    parser.add_argument("--signals", metavar="P", action="append", default=[], help="names or patterns (default: all)")
    parser.add_argument("-o", "--output", metavar="F", type=Path, help="the page (default: RESULT.html, here)")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.driver.comparing.curves_page import curves_page

    file = arguments.output or Path(Path(arguments.results[0]).stem + ".html")
    check_place(file)
    results = [(Path(name).name, read(name)) for name in arguments.results]
    text = curves_page(results, arguments.signals).html()
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write `{file}`: {error.strerror}")) from error
    print(f"wrote {file}")
    return 0
