"""Graph algorithms on plain integers: matching, strong components, disjoint sets, colouring.  Knows no equations."""

from kilohertz.graphs.unionfind import UnionFind

__all__ = ["UnionFind"]
