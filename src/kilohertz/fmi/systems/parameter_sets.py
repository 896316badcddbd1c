"""Parameter sets (SSV) and parameter mappings (SSM): values by name, and by the names they are mapped to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from kilohertz.fmi.systems.structure import Change, Value, unusable

_NUMBERS = frozenset({"Real", "Integer", "Float64", "Float32"})
_NUMBERS |= frozenset(f"{u}Int{n}" for u in ("", "U") for n in (8, 16, 32, 64))
_TRUE = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}
_MAPPINGS = ("BooleanMappingTransformation", "IntegerMappingTransformation", "EnumerationMappingTransformation")

LeftOut = Callable[[str], None]


def parameter_set(root: Element, prefix: str, left_out: LeftOut) -> Iterator[Value]:
    """The values of a set, with a prefix before their names."""
    if _plain(root) != "ParameterSet":
        raise unusable(f"a parameter set begins with <{root.tag}>")
    items = {
        (e.get("name", ""), i.get("name", "")): i.get("value", "")
        for e in _below(root, "Enumerations", "Enumeration")
        for i in e
        if _plain(i) == "Item"
    }
    for parameter in _below(root, "Parameters", "Parameter"):
        name = prefix + parameter.get("name", "")
        typed = next((e for e in parameter if e.get("value") is not None), None)
        if typed is None:
            left_out(f"the parameter `{name}` of a set has no value")
            continue
        text = typed.get("value", "")
        if _plain(typed) == "Enumeration":
            text = items.get((typed.get("name", ""), text), text)
        value = _value(_plain(typed), text, name)
        if value is None:
            left_out(f"the value of `{name}` is a {_plain(typed)} (`{text[:40]}`), which a task is not given")
            continue
        yield Value(name, value, typed.get("unit", ""))


def mapped(values: Iterable[Value], root: Element, left_out: LeftOut) -> Iterator[Value]:
    """What a mapping makes of values; those it does not name are not applied."""
    if _plain(root) != "ParameterMapping":
        raise unusable(f"a parameter mapping begins with <{root.tag}>")
    by_name = {v.name: v for v in values}
    targets: set[str] = set()
    unmapped = 0
    for entry in root:
        if _plain(entry) != "MappingEntry":
            continue
        source, target = entry.get("source", ""), entry.get("target", "")
        if target in targets:
            raise unusable(f"a parameter mapping has two entries for `{target}`")
        targets.add(target)
        if not source:
            unmapped += 1
            continue
        found = by_name.get(source)
        if found is None:
            left_out(f"`{target}` is mapped to `{source}`, which the parameter set does not hold")
            continue
        yield replace(found, name=target, change=change_of(entry))
    if unmapped:
        left_out(f"entries of a parameter mapping without a source: {unmapped}; what they name keeps its value")


def change_of(element: Element) -> Change:
    """The transformation inside a connection or an entry of a mapping."""
    as_is = element.get("suppressUnitConversion", "false") in ("true", "1")
    for child in element:
        if _plain(child) == "LinearTransformation":
            try:
                return Change(float(child.get("factor", "1")), float(child.get("offset", "0")), as_is)
            except ValueError:
                raise unusable("a linear transformation has a factor or offset that is no number") from None
        if _plain(child) in _MAPPINGS:
            entries = {e.get("source", ""): e.get("target", "") for e in child if _plain(e) == "MapEntry"}
            return Change(as_is=as_is, table=_plain(child), entries=entries)
    return Change(as_is=as_is)


def _value(kind: str, text: str, name: str) -> float | str | None:
    if kind == "String":
        return text
    if kind == "Boolean":
        return _TRUE.get(text.strip())
    if kind not in _NUMBERS | {"Enumeration"}:
        return None
    try:
        return float(text)
    except ValueError:
        if kind == "Enumeration" or len(text.split()) > 1:
            return None  # a literal that no enumeration of the file has; an array
        raise unusable(f"the value of `{name}` is `{text}`, which is no number") from None


def _plain(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _below(root: Element, group: str, name: str) -> Iterator[Element]:
    for child in root:
        if _plain(child) == group:
            yield from (e for e in child if _plain(e) == name)
