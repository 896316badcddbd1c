"""Connections: sets and their equations, streams, overconstrained graphs, expandable connectors (MLS 9, 15)."""
