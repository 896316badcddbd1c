"""Text to Tree and back, and where the texts come from: parser, unparser, libraries.  Nothing is looked up here.

The nodes are in `kilohertz.syntax.tree`.
"""

from typing import TYPE_CHECKING

from kilohertz.base.lazy import on_demand
from kilohertz.syntax import tree
from kilohertz.syntax.annotations import annotation_args, annotation_entries, annotation_entry, annotation_value
from kilohertz.syntax.library import Libraries, full_name
from kilohertz.syntax.parse_cache import TreeCache

if TYPE_CHECKING:
    from kilohertz.syntax.parsing.lexer import KEYWORDS
    from kilohertz.syntax.parsing.parser import parse_arguments, parse_expression, parse_text, paused_collector
    from kilohertz.syntax.same import same_tree
    from kilohertz.syntax.unparser import unparse

__all__ = [
    "KEYWORDS",
    "Libraries",
    "TreeCache",
    "annotation_args",
    "annotation_entries",
    "annotation_entry",
    "annotation_value",
    "full_name",
    "parse_arguments",
    "parse_expression",
    "parse_text",
    "paused_collector",
    "same_tree",
    "tree",
    "unparse",
]

__getattr__ = on_demand(
    __name__,
    {
        "KEYWORDS": "parsing.lexer",
        "parse_arguments": "parsing.parser",
        "parse_expression": "parsing.parser",
        "parse_text": "parsing.parser",
        "paused_collector": "parsing.parser",
        "same_tree": "same",
        "unparse": "unparser",
    },
)
