"""What the parser makes of a text: shapes, spans, names of enclosing classes, annotations."""

from __future__ import annotations

from pathlib import Path

import pytest

from kilohertz.base import ModelError
from kilohertz.syntax import (
    annotation_args,
    annotation_entries,
    annotation_entry,
    annotation_value,
    parse_expression,
    parse_text,
    tree,
    unparse,
)

EVERYTHING = Path(__file__).with_name("everything.mo")


def parsed(text: str) -> tree.ClassDef:
    """The first class of a text without errors."""
    stored, diagnostics = parse_text(text, "a.mo")
    assert diagnostics == []
    return stored.classes[0]


def body(text: str) -> tree.Body:
    """The content of the first class."""
    content = parsed(text).body
    assert isinstance(content, tree.Body)
    return content


def component(declaration: str) -> tree.Component:
    """The one component of a declaration."""
    (element,) = body(f"model A {declaration}; end A;").elements
    assert isinstance(element, tree.Component)
    return element


def test_every_construct_is_read() -> None:
    stored, diagnostics = parse_text(EVERYTHING.read_text(encoding="utf-8"), str(EVERYTHING))
    assert diagnostics == []
    assert stored.within == ()
    assert [cls.name for cls in stored.classes] == ["Everything", "Second"]
    assert stored.final == (False, True)


def test_nested_classes_know_file_and_full_name() -> None:
    cls = parsed("within A.B; package P model M type T = Real; end M; end P;")
    assert cls.within == ("A", "B")
    assert isinstance(cls.body, tree.Body)
    (inner,) = cls.body.elements
    assert isinstance(inner, tree.ClassDef) and isinstance(inner.body, tree.Body)
    assert inner.within == ("A", "B", "P") and inner.file == "a.mo"
    (innermost,) = inner.body.elements
    assert isinstance(innermost, tree.ClassDef)
    assert innermost.within == ("A", "B", "P", "M") and innermost.file == "a.mo"


def test_spans_are_characters_of_the_text() -> None:
    text = "model A\n  Real x = (a + b)*2;\nend A;"
    cls = parsed(text)
    assert text[cls.start : cls.end] == "model A\n  Real x = (a + b)*2;\nend A"
    assert text[cls.name_start : cls.name_start + 1] == "A"
    assert isinstance(cls.body, tree.Body)
    (x,) = cls.body.elements
    assert isinstance(x, tree.Component) and x.modification is not None
    assert text[x.start : x.end] == "x = (a + b)*2"
    product = x.modification.binding
    assert isinstance(product, tree.Binary)
    assert text[product.start : product.end] == "(a + b)*2"


@pytest.mark.parametrize("head", ["\ufeff", "\ufeff// comment\n", "/* a */ ", "\r\n\t"])
def test_what_may_stand_before_the_first_token(head: str) -> None:
    assert parsed(head + "model A end A;").name == "A"


def test_dimensions_of_the_component_come_first() -> None:
    dims = component("T[3] x[2]").dims
    assert [unparse(d) for d in dims] == ["2", "3"]


@pytest.mark.parametrize(
    ("text", "path", "alias", "star", "names"),
    [
        ("import A.B", ("A", "B"), "B", False, ()),
        ("import C = A.B", ("A", "B"), "C", False, ()),
        ("import A.B.*", ("A", "B"), None, True, ()),
        ("import A.B . *", ("A", "B"), None, True, ()),
        ("import A.B.{c, d}", ("A", "B"), None, False, ("c", "d")),
    ],
)
def test_imports(text: str, path: tuple[str, ...], alias: str | None, star: bool, names: tuple[str, ...]) -> None:
    (node,) = body(f"model A {text}; end A;").elements
    assert isinstance(node, tree.Import)
    assert (node.path, node.alias, node.star, node.names) == (path, alias, star, names)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("-a*b", "-(a*b)"),
        ("-a^2", "-(a^2)"),
        ("a - b - c", "(a - b) - c"),
        ("a/b*c", "(a/b)*c"),
        ("not a == b", "not (a == b)"),
        ("a or b and c", "a or (b and c)"),
        ("a + b:c*2:d", "(a + b):(c*2):d"),
        ("if a then b else c + d", "if a then b else (c + d)"),
        ("a .+ b .* c .^ d", "a .+ (b .* (c .^ d))"),
    ],
)
def test_precedence(text: str, same: str) -> None:
    assert unparse(parse_expression(text)) == unparse(parse_expression(same))


def test_literals() -> None:
    one, real, text, yes = (parse_expression(t) for t in ("1", "1.5e-3", r'"a\tb\"c"', "true"))
    assert isinstance(one, tree.Number) and type(one.value) is int
    assert isinstance(real, tree.Number) and real.value == 0.0015
    assert isinstance(text, tree.String) and text.value == 'a\tb"c'
    assert isinstance(yes, tree.Boolean) and yes.value is True


@pytest.mark.parametrize("text", ["13.", "13E0", "1.3e1", "0.13E2", ".13E2", ".13e+2"])
def test_numbers_without_digits_on_one_side(text: str) -> None:
    """MLS 2.4.1: the same number."""
    node = parse_expression(text)
    assert isinstance(node, tree.Number) and type(node.value) is float and node.value == 13


def test_a_point_before_digits_is_no_operator() -> None:
    assert unparse(parse_expression("a.b .* .5 ./.25")) == unparse(parse_expression("(a.b .* 0.5) ./ 0.25"))


def test_references_keep_quotes_and_subscripts() -> None:
    node = parse_expression("a.'b.c d'[1, :].e[end]")
    assert isinstance(node, tree.Ref) and node.subs is not None
    assert node.names == ("a", "'b.c d'", "e")
    assert [len(s) for s in node.subs] == [0, 2, 1]
    assert isinstance(node.subs[1][1], tree.Colon) and isinstance(node.subs[2][0], tree.End)


def test_calls_of_keywords() -> None:
    for word in ("der", "initial", "pure"):
        node = parse_expression(f"{word}(x)")
        assert isinstance(node, tree.Call) and node.function.names == (word,)


def test_redeclarations_carry_their_flags() -> None:
    x = component("B b(redeclare each final replaceable model M = N constrainedby O, replaceable Real y = 1)")
    assert x.modification is not None
    first, second = x.modification.args
    assert isinstance(first, tree.Redeclaration) and isinstance(first.element, tree.ClassDef)
    assert (first.redeclare, first.each, first.final, first.replaceable) == (True, True, True, True)
    assert first.element.constraint is not None and first.element.within == ("A",)
    assert isinstance(second, tree.Redeclaration) and isinstance(second.element, tree.Component)
    assert (second.redeclare, second.replaceable) == (False, True)


def test_a_sum_of_many_terms_needs_no_deep_stack() -> None:
    text = " + ".join(["x"] * 20_000)
    node = parse_expression(text)
    assert unparse(node) == text


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "x" + ")" * 5000,
        "{" * 5000,
        "-(" * 5000,
        "f(" * 5000,
        "a[" * 5000,
        "if a then " * 5000,
        "if a then b else " * 5000 + "c",
        "(a or b and not c < d + e * f ^ " * 500,
        "function f(a = " * 5000,
    ],
)
def test_too_deep_nesting_is_a_message(text: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_expression(text)
    assert caught.value.diagnostics[0].code in ("P106", "P101")
    for frame in ("model A Real x = {}; end A;", "model A B b(c = {}); end A;", "model A equation {} = 1; end A;"):
        assert parse_text(frame.format(text.replace("{", "{{")), "a.mo")[1]


@pytest.mark.parametrize("text", ["model A ", "equation if a then ", "package P package extends A ", "A a(b("])
def test_too_deep_classes_are_a_message(text: str) -> None:
    _, diagnostics = parse_text("model M " + text * 3000, "a.mo")
    assert diagnostics


class TestAnnotations:
    """Annotations are kept as text and parsed when asked for."""

    def test_values_by_path(self) -> None:
        cls = parsed("model A annotation(experiment(StartTime = -1, StopTime = 2), Evaluate = true); end A;")
        args = annotation_args(cls.annotation, cls)
        stop = annotation_value(args, "experiment", "StopTime")
        assert isinstance(stop, tree.Number) and stop.value == 2
        assert annotation_value(args, "experiment", "Tolerance") is None
        assert annotation_value(args, "experiment") is None
        assert annotation_entry(args, "experiment") is not None

    def test_several_entries_of_one_name(self) -> None:
        cls = parsed("function f annotation(derivative = g, derivative(order = 2) = h); end f;")
        assert len(annotation_entries(annotation_args(cls.annotation, cls), "derivative")) == 2

    def test_text_is_kept_only_where_the_compiler_may_ask(self) -> None:
        x = component('Real x annotation(Dialog(group = "a"))')
        y = component("Real x annotation(HideResult = true)")
        assert x.annotation is not None and x.annotation.text is None
        assert y.annotation is not None and y.annotation.text == "(HideResult = true)"

    def test_others_are_read_from_the_file(self, tmp_path: Path) -> None:
        text = 'model A "é"\n  annotation (Documentation(info = "some (text"), Icon(a = 1));\nend A;'
        file = tmp_path / "A.mo"
        file.write_text(text, encoding="utf-8-sig")
        (cls,) = parse_text(text, str(file))[0].classes
        assert cls.annotation is not None and cls.annotation.text is None
        args = annotation_args(cls.annotation, cls)
        info = annotation_value(args, "Documentation", "info")
        assert isinstance(info, tree.String) and info.value == "some (text"
        assert text[info.start : info.end] == '"some (text"'

    def test_a_lost_file_is_a_message(self) -> None:
        cls = parsed("model A annotation(Icon(a = 1)); end A;")
        with pytest.raises(ModelError) as caught:
            annotation_args(cls.annotation, cls)
        assert caught.value.diagnostics[0].code == "L307"

    def test_malformed_ones_are_a_message_when_asked_for(self) -> None:
        cls = parsed("model A annotation(experiment(StopTime = )); end A;")
        with pytest.raises(ModelError) as caught:
            annotation_args(cls.annotation, cls)
        span = caught.value.diagnostics[0].span
        assert span is not None and span.start == len("model A annotation(experiment(StopTime = ")
