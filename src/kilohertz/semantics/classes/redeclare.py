"""Which modifications a redeclared element keeps (MLS 7.3.2).

A modification of a replaceable element holds for what it is and for its constraining type; so it holds for whatever is
put in later, and so do the modifications of a constraining clause.  Those written on the replaced declaration itself
stay behind, unless it is the original declaration and has no constraining clause: then they are that of the
constraining type.  Outer modifications override inner ones, as everywhere.
"""

from __future__ import annotations

from kilohertz.semantics.classes.modifiers import Ctx, Env, Mod, spec_of
from kilohertz.semantics.classes.scopes import Element, View
from kilohertz.syntax import tree


def kept(element: Element, weaker: Env) -> Env:
    """What `element` hands on to its replacement: of `weaker`, which lie inside of the redeclaration, and of itself."""
    decl, ctx = element.decl, Ctx(element.view)
    handed_on = tuple(m for mod in weaker for m in _lasting(mod)) + of_constraint(decl, ctx)
    if decl.constraint is None and not decl.redeclare:
        handed_on += of_declaration(decl, ctx)
    known = {id(mod.spec) for mod in handed_on}
    return handed_on + tuple(mod for mod in inherited(element) if id(mod.spec) not in known)


def inherited(element: Element) -> Env:
    """What an element that redeclares an inherited one in the body of a class takes over from it."""
    old = element.replaces
    if old is None or not element.decl.redeclare or old.is_class != element.is_class:
        return ()
    known = {id(mod.spec) for mod in element.chain}
    return kept(old, tuple(mod for mod in old.chain if id(mod.spec) not in known))


def of_redeclaration(mod: Mod) -> Env:
    """What a redeclaration in a modification says of the new element: its own words, then its constraining clause."""
    assert mod.spec.redeclare is not None
    new = mod.spec.redeclare.element
    mods = of_declaration(new, mod.ctx) + of_constraint(new, mod.ctx)
    return tuple(Mod(one.spec, mod.ctx, mod.select) for one in mods)


def redeclarations(env: Env) -> tuple[tuple[tree.Component | tree.ClassDef, View], ...]:
    """The redeclarations among modifications, with where they are written."""
    return tuple((mod.spec.redeclare.element, mod.ctx.view) for mod in env if mod.spec.redeclare is not None)


def _lasting(mod: Mod) -> Env:
    """A modification outlasts a redeclaration from further out; of a redeclaration, only its constraining clause."""
    if mod.spec.redeclare is None:
        return (mod,)
    return tuple(Mod(m.spec, mod.ctx, mod.select) for m in of_constraint(mod.spec.redeclare.element, mod.ctx))


def of_constraint(decl: tree.Component | tree.ClassDef, ctx: Ctx) -> Env:
    """What a constraining clause says of whatever is put in."""
    return () if decl.constraint is None else _env(decl.constraint.modification, ctx)


def of_declaration(decl: tree.Component | tree.ClassDef, ctx: Ctx) -> Env:
    """What a declaration says of its own type."""
    if isinstance(decl, tree.Component):
        return _env(decl.modification, ctx)
    return _env(decl.body.modification, ctx) if isinstance(decl.body, tree.ShortBody) else ()


def _env(modification: tree.Modification | None, ctx: Ctx) -> Env:
    return () if modification is None else (Mod(spec_of(modification, ctx.view, ctx.file), ctx),)
