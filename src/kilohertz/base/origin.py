"""Origins: from a flat variable, an equation or a block of C back to the Modelica source."""

from __future__ import annotations

from typing import NamedTuple

from kilohertz.base.source import Span


class Origin(NamedTuple):
    """Source spans, the instance path that owns them (`axle.clutch1`, empty at the top), the passes that touched it."""

    spans: tuple[Span, ...] = ()
    path: str = ""
    passes: tuple[str, ...] = ()

    def touched(self, pass_name: str) -> Origin:
        """The same origin, marked as changed by a pass."""
        if self.passes and self.passes[-1] == pass_name:
            return self
        return self._replace(passes=(*self.passes, pass_name))

    def joined(self, other: Origin) -> Origin:
        """The origin of something made from two things."""
        spans = self.spans + tuple(s for s in other.spans if s not in self.spans)
        return Origin(spans, self.path, self.passes)
