"""Classes in their context: modifications, element tables, lookup, and the world they are found in."""

from kilohertz.semantics.classes.modifiers import Ctx, Env, Mod, Selection, Spec, inner_class, spec_of
from kilohertz.semantics.classes.nodes import ClassNode, Element, View

__all__ = ["ClassNode", "Ctx", "Element", "Env", "Mod", "Selection", "Spec", "View", "inner_class", "spec_of"]
