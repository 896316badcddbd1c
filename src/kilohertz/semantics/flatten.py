"""Flattening: one class of a library → the Flat form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kilohertz.base import Diagnostic, Dotted, ModelError, Note, Severity, Span, closest
from kilohertz.ir import make, traverse
from kilohertz.ir.expr import TIME, Expr, Int, Real
from kilohertz.ir.flat import Algorithm, Equality, Experiment, Flat, Variable
from kilohertz.ir.types import REAL, ExternalObjectType
from kilohertz.semantics.balancing.clock_inference import infer_clocks
from kilohertz.semantics.balancing.held import name_held
from kilohertz.semantics.behaviour.equations import Equations
from kilohertz.semantics.behaviour.external_objects import settle_objects
from kilohertz.semantics.behaviour.first_tick_objects import drop_made, make_before_ticks
from kilohertz.semantics.behaviour.reach import called, expressions
from kilohertz.semantics.classes.modifiers import Ctx, Mod, Spec
from kilohertz.semantics.classes.nodes import ATTRIBUTES, ClassNode, Element
from kilohertz.semantics.connecting.connect_sets import FlowLeaf
from kilohertz.semantics.connecting.ends import made_for_bus
from kilohertz.semantics.connecting.streams import StreamVariable
from kilohertz.semantics.expressions.elaborate import Elaborator
from kilohertz.semantics.instances import Comp, CompArray
from kilohertz.semantics.machines.expand import expand
from kilohertz.semantics.rules import (
    Redeclared,
    Survey,
    check_algorithms,
    check_bases,
    check_classes,
    check_component,
    check_conditions,
    check_limits,
    check_outputs,
    check_parts,
    check_pre,
    check_redeclarations,
    check_reinits,
    check_replaceable,
    check_twice,
    check_units,
    check_values,
    check_variability,
    false_inverses,
)
from kilohertz.semantics.surroundings import interfaces
from kilohertz.semantics.world import World
from kilohertz.syntax import Libraries, annotation_args, annotation_value, paused_collector, tree

_SHOWN = 6  # models named in a message


def flatten(libraries: Libraries, name: str | tuple[str, ...]) -> tuple[Flat, list[Diagnostic]]:
    """The flat form of a class by its full name, and warnings."""
    name = Dotted.read(name).parts if isinstance(name, str) else name
    world = World(libraries)
    cls = world.absolute(name)
    if not isinstance(cls, ClassNode):
        raise ModelError(_missing(world, name))
    with paused_collector():  # hundreds of thousands of objects, none of them garbage
        try:
            flat = _Flattener(world, cls).run()
        except ModelError as error:
            raise ModelError(*error.diagnostics, *world.refused.values()) from None
    if world.refused:
        raise ModelError(*world.refused.values())
    return flat, world.warnings


def _missing(world: World, name: tuple[str, ...]) -> Diagnostic:
    for k in range(len(name)):
        if world.absolute(name[: k + 1]) is None:
            if k == 0:
                return world.libraries.missing(name[0])
            inner = world.absolute(name[:k])
            near = closest(name[k], list(inner.table), 1) if isinstance(inner, ClassNode) else []
            notes = (Note(f"did you mean `{'.'.join((*name[:k], near[0]))}`?"),) if near else ()
            return Diagnostic("S202", f"there is no class `{name[k]}` in `{'.'.join(name[:k])}`", notes=notes)
    return Diagnostic("S203", f"`{'.'.join(name)}` is not a class")


class _Flattener:
    """Walks the instance tree three times: components, connections, equations."""

    def __init__(self, world: World, node: ClassNode) -> None:
        self.world, self.node = world, node
        elaborator = Elaborator(world)
        self.elaborator = world.elaborator = elaborator
        self.equations = Equations(elaborator)
        self.flat = Flat(node.full_name)
        self.primitives: list[tuple[Comp, bool]] = []
        self.composites: list[Comp] = []
        self._checked: set[tuple[int, int]] = set()
        self._checked_components: set[tuple[int, int]] = set()

    def run(self) -> Flat:
        node, flat = self.node, self.flat
        definition = node.definition
        if definition.kind in ("package", "function", "operator", "operator function", "record", "type"):
            raise ModelError(
                Diagnostic(
                    "S216",
                    f"`{node.written_name}` is a {definition.kind}, not a model that can be flattened",
                    definition.name_span,
                    notes=self._models_inside() if definition.kind == "package" else (),
                )
            )
        if definition.partial:
            raise ModelError(Diagnostic("S214", f"`{node.written_name}` is partial", definition.name_span))
        flat.description = definition.comment
        flat.experiment = self._experiment()
        top = Comp(self.world, node, "", None, definition.name, ())
        self.elaborator.maker.top = top
        self._visit_all(top)
        graph = self.elaborator.graph
        for comp in self.composites:
            for section, view in comp.node.sections:
                if not section.algorithm and not section.initial:
                    graph.gather(section.items, Ctx(view, comp))
                    self.elaborator.machines.note_states(section.items, Ctx(view, comp))
            graph.buses.mark_used(comp)
        graph.resolve()
        self._revisit(top)
        graph.finish(self._flow_leaves(), self._streams())
        self._variables()
        self._sections()
        flat.equations += graph.equations
        self._structural()
        make_before_ticks(flat)
        settle_objects(flat)
        self._machines()
        self._functions()
        self._clocks()
        drop_made(flat)
        check_algorithms(flat)
        survey = Survey(flat)
        self.world.warnings += check_pre(survey)
        self.world.warnings += check_units(flat, self.world.rescaled, self.elaborator.functions.units)
        self._check_rules(survey)
        flat.parts = interfaces(self.composites, self.elaborator.machines.states)
        return flat

    def _check_rules(self, survey: Survey) -> None:
        """Rules on classes, which wait until no class is being built any more, and on the flat model."""
        world = self.world
        views, extended = list(world.views.values()), list(world.extended.values())
        redeclared = [Redeclared(*one) for one in world.redeclared]
        for broken in (
            check_classes(views),
            check_bases(extended),
            check_twice(world.twice),
            check_redeclarations(redeclared),
            check_replaceable(views),
            check_conditions(views),
            check_limits(self.flat, self._is_of_type, self._is_handed_on),
            check_variability(survey, self.elaborator.evaluation.variables),
            (one for function in self.flat.functions.values() for one in check_outputs(function)),
            check_values(self.flat),
            check_parts(self.flat),
            check_reinits(survey),
        ):
            for one in broken:
                world.record(one)
        for function, named, said in false_inverses(self.flat):
            function.inverses.remove(named)
            world.record(said)

    def _is_of_type(self, variable: str, attribute: str) -> bool:
        """Whether a limit is one of a type, which its users may not even know."""
        comp = self._primitive(variable)
        return comp is not None and self.elaborator.bindings.is_of_type(comp, attribute)

    def _is_handed_on(self, variable: str) -> bool:
        comp = self._primitive(variable)
        return comp is not None and self.elaborator.bindings.is_handed_on(comp)

    def _primitive(self, variable: str) -> Comp | None:
        return next((c for c, _ in self.primitives if c.path == variable), None)

    # ------------------------------------------------------------------------------------------------------- components

    def _visit(self, comp: Comp, outermost: bool) -> None:
        """All components below, depth first and in order; expandable connectors are filled later."""
        stack: list[tuple[Comp, bool]] = [(comp, outermost)]
        while stack:
            at, outer = stack.pop()
            self._check_modifiers(at)
            self._check_component(at)
            if at.is_primitive:
                self.primitives.append((at, outer))
                continue
            self.composites.append(at)
            children: list[tuple[Comp, bool]] = []
            for name, element in at.node.table.items():
                if not element.is_class and element.component.outer:
                    at.child(name)  # finds its inner, or adds a default one at the top
            for child in at.components():
                parts = child.elements() if isinstance(child, CompArray) else (child,)
                keep = outer and (at.parent is None or at.node.kind in ("connector", "record", "operator record"))
                children += [(part, keep) for part in parts]
            stack.extend(reversed(children))

    def _visit_all(self, top: Comp) -> None:
        """The model, and the default inner components that its outer ones ask for (MLS 5.4)."""
        self._visit(top, True)
        own = ((name, e.component) for name, e in top.node.table.items() if not e.is_class)
        visited = {name for name, decl in own if decl.inner or not decl.outer}
        while pending := [n for n in top.inner_children if n not in visited]:
            for name in pending:
                visited.add(name)
                added = top.inner_children[name]
                for part in added.elements() if isinstance(added, CompArray) else (added,):
                    if part is not None:
                        self._visit(part, False)

    def _revisit(self, top: Comp) -> None:
        """Once connections have filled the buses: the final list of variables."""
        self.primitives.clear()
        self.composites.clear()
        self._visit_all(top)
        unused = self.elaborator.graph.buses.unused
        self.primitives = [
            (c, o) for c, o in self.primitives if c.variability in ("parameter", "constant") or not unused(c)
        ]

    def _check_modifiers(self, comp: Comp) -> None:
        """Modifications must name something that is there."""
        for mod in comp.env:
            if mod.implied or not mod.spec.subs or (id(mod.spec), id(comp.node)) in self._checked:
                continue
            self._checked.add((id(mod.spec), id(comp.node)))
            known = ATTRIBUTES if comp.is_primitive else tuple(comp.node.table)
            for name, spec in mod.spec.subs.items():
                if name not in known:
                    raise self.elaborator.names.no_member(comp.node.full_name, name, list(known), spec, mod.ctx)
                element = None if comp.is_primitive else comp.node.table[name]
                if element is not None and element.protected:
                    self._modified_protected(element, mod, spec)
                if spec.each and not _is_in_array(comp, element):
                    text = f"`each` has no meaning for `{name}` here: there is no array"
                    self.world.record(Diagnostic("S338", text, mod.ctx.span(spec), severity=Severity.WARNING))

    def _modified_protected(self, element: Element, mod: Mod, spec: Spec) -> None:
        """Protected elements are not modified from outside (MLS 4.1)."""
        text = f"`{element.name}` is protected and cannot be modified from outside"
        # libraries in use give protected components other values, but no other classes
        severity = Severity.ERROR if element.is_class or spec.redeclare is not None else Severity.WARNING
        notes = (Note("declared here", element.span),)
        self.world.record(Diagnostic("S310", text, mod.ctx.span(spec), notes=notes, severity=severity))

    def _check_component(self, comp: Comp) -> None:
        """Rules on a component, once for all that come of one declaration and one class."""
        key = (id(comp.element), id(comp.node))
        if key in self._checked_components:
            return
        self._checked_components.add(key)
        for one in check_component(comp):
            self.world.record(one)

    def _flow_leaves(self) -> list[FlowLeaf]:
        graph = self.elaborator.graph
        flows = [c for c, _ in self.primitives if c.connection == "flow" and _is_in_connector(c)]
        for comp in flows:
            if comp.ty is not None and comp.ty.base != REAL.base:
                raise ModelError(Diagnostic("S467", f"the flow variable `{comp.path}` must be a Real", comp.span))
        return [FlowLeaf(graph.leaf(c), c.origin, graph.buses.in_bus(c)) for c in flows]

    def _streams(self) -> dict[str, StreamVariable]:
        streams: dict[str, StreamVariable] = {}
        graph = self.elaborator.graph
        for comp, _ in self.primitives:
            if comp.connection != "stream" or comp.parent is None:
                continue
            owner = _connector_of(comp.parent)
            flow = next((c for c in owner.components() if isinstance(c, Comp) and c.connection == "flow"), None)
            if flow is None:
                raise ModelError(
                    Diagnostic("S466", f"the stream variable `{comp.path}` has no flow beside it", comp.span)
                )
            bounds = [self._bound(flow, "min", float("-inf")), self._bound(flow, "max", float("inf"))]
            streams[comp.path] = StreamVariable(graph.leaf(comp), graph.leaf(flow), bounds[0], bounds[1])
        return streams

    def _bound(self, comp: Comp, name: str, default: float) -> float:
        expr = self.elaborator.bindings.attribute(comp, name)
        if expr is None:
            return default
        if isinstance(expr, (Real, Int)):
            return float(expr.value)
        evaluation = self.elaborator.evaluation
        value = None if evaluation.varies(expr) else evaluation.try_value(expr)
        return float(value) if isinstance(value, (int, float)) else default

    # -------------------------------------------------------------------------------------------------------- variables

    def _variables(self) -> None:
        for comp, outermost in self.primitives:
            assert comp.ty is not None
            if comp.path in self.flat.variables:
                continue
            self.elaborator.names.variable(comp)
            self.flat.variables[comp.path] = self._variable(comp, outermost)

    def _variable(self, comp: Comp, outermost: bool) -> Variable:
        ty = comp.ty
        assert ty is not None
        bindings = self.elaborator.bindings
        named = bindings.attribute_names(comp)
        attributes = {n: e for n in ATTRIBUTES if n in named and (e := bindings.attribute(comp, n)) is not None}
        variability = comp.variability or ("continuous" if ty.base == REAL.base else "discrete")
        if isinstance(ty.base, ExternalObjectType):
            variability = comp.variability or "parameter"
        binding = self.elaborator.bindings.sized_binding(comp)
        if binding is not None and comp.variability in ("parameter", "constant"):
            self._check_variability(comp, binding)
        # an input of the model that has a value by its declaration waits for none from outside
        is_set = binding is not None and comp.causality == "input" and variability not in ("parameter", "constant")
        variable = Variable(
            comp.path,
            ty,
            variability,
            comp.causality if outermost and not is_set else "",
            comp.connection,
            attributes,
            None,
            comp.decl.comment if comp.decl is not None else "",
            comp.final or any(m.spec.final for m in comp.env if m.spec.binding is not None),
            comp.protected,
            False,
            comp.origin,
            "start" in attributes and bindings.is_of_type(comp, "start"),
        )
        if binding is not None:
            if variability in ("parameter", "constant"):
                variable.binding = binding
            elif 0 not in ty.dims:
                self.flat.equations.append(
                    Equality(self.elaborator.names.variable(comp), binding, self._binding_origin(comp))
                )
        if comp.variability == "parameter" and not comp.structural and self._evaluate(comp):
            self.elaborator.evaluation.try_value(self.elaborator.names.variable(comp))
        return variable

    def _check_variability(self, comp: Comp, binding: Expr) -> None:
        """A constant depends on constants only, a parameter on parameters; a record's field on what the record gets."""
        implied = next((m.implied for m in comp.env if m.spec.binding is not None), False)
        allowed = ("constant",) if comp.variability == "constant" and not implied else ("constant", "parameter")
        for ref in traverse.refs(binding):
            other = self.elaborator.evaluation.variables.get(ref.name)
            is_object = other is not None and other.ty is not None and isinstance(other.ty.base, ExternalObjectType)
            if (other is None and ref is TIME) or (
                other is not None and other.variability not in allowed and not is_object
            ):
                raise ModelError(
                    Diagnostic(
                        "S223",
                        f"the {comp.variability} `{comp.path}` depends on `{ref.name}`, which is no {allowed[-1]}",
                        self._binding_origin(comp).spans[0] if self._binding_origin(comp).spans else comp.span,
                    )
                )

    def _binding_origin(self, comp: Comp) -> Any:
        for mod in comp.env:
            if mod.spec.binding is not None:
                return comp.origin._replace(spans=(mod.span,))
        return comp.origin

    def _evaluate(self, comp: Comp) -> bool:
        """`annotation(Evaluate=true)`."""
        annotation = comp.decl.annotation if comp.decl is not None else None
        if annotation is None or annotation.text is None or comp.element is None:
            return False
        value = annotation_value(annotation_args(annotation, comp.element.view.definition), "Evaluate")
        return isinstance(value, tree.Boolean) and value.value

    def _structural(self) -> None:
        """Parameters that were used to shape the model are constants from now on."""
        for name, variable in self.flat.variables.items():
            comp = self.elaborator.evaluation.variables.get(name)
            if comp is None or not comp.structural or comp.value is None:
                continue
            variable.structural = True
            variable.binding = make.literal(comp.value, variable.ty)

    # ------------------------------------------------------------------------------------------------------ equations

    def _sections(self) -> None:
        flat = self.flat
        statements = self.elaborator.statements
        for comp in self.composites:
            said = [(section, view) for section, view in comp.node.sections if section.items]
            if said and comp.node.kind in ("record", "operator record", "connector"):
                section, view = said[0]
                span = Span(view.definition.file, section.start, section.end)
                raise ModelError(Diagnostic("S218", f"a {comp.node.kind} cannot have equations or algorithms", span))
            for section, view in comp.node.sections:
                ctx = Ctx(view, comp, open_=section.algorithm)
                if section.initial:
                    self._check_initial(section.items, ctx)
                if section.algorithm:
                    body = statements.section(section.items, ctx)
                    span = Span(view.definition.file, section.start, section.end)
                    algorithm = Algorithm(body, comp.origin._replace(spans=(span,), path=comp.path))
                    (flat.initial_algorithms if section.initial else flat.algorithms).append(algorithm)
                else:
                    out = self.equations.section(section.items, ctx)
                    (flat.initial_equations if section.initial else flat.equations).extend(out)

    def _check_initial(self, items: Any, ctx: Ctx) -> None:
        """Initial sections have no when (MLS 8.6)."""
        pending = list(items)
        while pending:
            match pending.pop():
                case tree.WhenEquation() | tree.WhenStatement() as when:
                    raise self.elaborator.error("S287", "a when cannot stand in an initial section", when, ctx)
                case tree.IfEquation() | tree.IfStatement() as choice:
                    pending += [i for _, body in choice.branches for i in body]
                    pending += choice.otherwise
                case tree.ForEquation() | tree.ForStatement() as loop:
                    pending += loop.body

    def _machines(self) -> None:
        """State machines, once all that stands in their states is there."""
        machines = self.elaborator.machines
        for comp in self.composites if machines.transitions or machines.initial else ():
            for name, element in comp.node.table.items():
                if not element.is_class and element.component.outer and element.component.causality == "output":
                    machines.outer_output(comp, name, element.component)
        parents = {c.path: c.parent.path for c in (*self.composites, *(p for p, _ in self.primitives)) if c.parent}
        expand(self.flat, machines, parents)

    def _functions(self) -> None:
        flat = self.flat
        parts = [
            [(v.binding, v.attributes) for v in flat.variables.values()],
            flat.equations,
            flat.initial_equations,
            flat.algorithms,
            flat.initial_algorithms,
        ]
        ids = called(expressions(parts), set())
        # an external object's destructor belongs to it
        for variable in flat.variables.values():
            if isinstance(variable.ty.base, ExternalObjectType):
                ids.append(variable.ty.base.destructor)
        flat.functions = self.elaborator.functions.closure(ids)

    def _clocks(self) -> None:
        """Clock partitions; what contradicts itself is reported as a warning, since only a simulation needs them."""
        result = infer_clocks(self.flat)
        if len(result.partitions) > 1 and name_held(self.flat):
            result = infer_clocks(self.flat)
        self.flat.clocks = list(result.partitions)
        self.world.warnings += [replace(d, severity=Severity.WARNING) for d in result.diagnostics]

    def _models_inside(self) -> tuple[Note, ...]:
        """What the user may have meant by a package: the models in it."""
        children = self.world.libraries.children(self.node.definition)
        classes = [load() for load in children.values()]
        models = [c.name for c in classes if c.kind in ("model", "block", "class") and not c.partial]
        named = ", ".join(f"`{self.node.full_name}.{name}`" for name in models[:_SHOWN])
        return (Note(f"models in it: {named}" + (", ..." if len(models) > _SHOWN else "")),) if models else ()

    def _experiment(self) -> Experiment:
        definition = self.node.definition
        args = annotation_args(definition.annotation, definition)

        def number(name: str) -> float | None:
            expr = annotation_value(args, "experiment", name)
            if expr is None:
                return None
            value = self.elaborator.evaluation.try_value(self.elaborator.expr(expr, Ctx(self.node.view)))
            return float(value) if isinstance(value, (int, float)) else None

        return Experiment(number("StartTime"), number("StopTime"), number("Interval"), number("Tolerance"))


def _is_in_array(comp: Comp, element: Element | None) -> bool:
    """Whether there is an array that `each` can speak of: around a component, itself, or its element (MLS 7.2.5)."""
    is_array = (comp.ty is not None and bool(comp.ty.dims)) or made_for_bus(comp)
    return is_array or "[" in comp.path or (element is not None and (element.is_class or bool(element.component.dims)))


def _connector_of(comp: Comp) -> Comp:
    """The connector around a record of stream variables."""
    while comp.connection == "stream" and comp.parent is not None:
        comp = comp.parent
    return comp


def _is_in_connector(comp: Comp) -> bool:
    """Whether a variable belongs to a connector: only there `flow` speaks of connections."""
    at: Comp | None = comp
    while at is not None:
        if "connector" in at.node.kinds:
            return True
        at = at.parent
    return False
