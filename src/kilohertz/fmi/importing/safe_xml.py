"""XML of others: read without document types and entities, and not without end."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from kilohertz.base import ModelError

_DTD = re.compile(rb"<!\s*(DOCTYPE|ENTITY)", re.IGNORECASE)
_LARGEST = 256 << 20  # bytes


def read_xml(data: bytes, what: str, refuse: Callable[[str], ModelError]) -> Element:
    """The root element; `refuse` makes an error of a sentence on `what` (`its description`)."""
    if len(data) > _LARGEST:
        raise refuse(f"{what} has {len(data)} bytes")
    if _DTD.search(data.replace(b"\0", b"")):
        raise refuse(f"{what} defines a document type or entities, which nothing in it needs")
    try:
        return ElementTree.fromstring(data)
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise refuse(f"{what} is no XML: {error}") from None
