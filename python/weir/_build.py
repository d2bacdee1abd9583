"""Scenarios built in code: plain dataclasses that become the YAML of ``docs/scenario-format.md``.

Keys that have no parameter here are given by their name in YAML: ``gpu("g", link="x16", engines=2)``.
What they mean, and what is wrong with them, is said by the reader of scenarios alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, Union

from ._yaml import bounded, dump

Data = Any
"""Text, numbers, booleans, lists and dicts."""


@dataclass
class LinkType:
    """A named type of links."""

    name: str
    values: dict[str, Data] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Data]:
        """The type as a map, without its name."""
        return _once(f"link type {self.name!r}", [_values(self.values)])


@dataclass
class Node:
    """A node of the tree, with those below it."""

    name: str
    kind: str | None = None
    children: list[Node] = field(default_factory=list)
    values: dict[str, Data] = field(default_factory=dict)
    """The other keys: ``link``, ``engines``, ``memory``, …"""

    def to_dict(self) -> dict[str, Data]:
        """The node as a map, without its name."""
        what = f"node {self.name!r}"
        children = _named(f"{what}, children", self.children, "child", Node)
        return _once(what, [{"kind": self.kind}, _values(self.values), {"children": children or None}])


@dataclass
class Link:
    """A link beside the tree."""

    between: tuple[str, str]
    type: Data

    def to_dict(self) -> dict[str, Data]:
        """The link as a map."""
        return {"between": list(self.between), "type": self.type}


@dataclass
class Topology:
    """Nodes and the links between them."""

    tree: list[Node]
    link_types: list[LinkType] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    values: dict[str, Data] = field(default_factory=dict)
    """The other keys: ``machines``, ``networks``."""

    def to_dict(self) -> dict[str, Data]:
        """The topology as a map."""
        types = _named("link_types", self.link_types, "type", LinkType)
        tree = _named("tree", self.tree, "root", Node)
        links = [each.to_dict() for each in _each("links", self.links, "link", Link)]
        own = _values(self.values)
        return _once("topology", [{"link_types": types or None}, own, {"tree": tree}, {"links": links or None}])

    def to_yaml(self) -> str:
        """The topology as a file of its own."""
        return bounded(lambda: dump({"weir": 1, **self.to_dict()}))


@dataclass
class Operation:
    """An item of the workload."""

    key: str
    """``transfer``, ``compute``, ``collective``, or the key of another operation."""
    values: dict[str, Data] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Data]:
        """The operation as a map."""
        return {self.key: _once(self.key, [_values(self.values)])}


@dataclass
class Scenario:
    """What runs where."""

    topology: Union[Topology, str, os.PathLike[str], Mapping[str, Data], None] = None
    """A topology, or the name of a file with one."""
    workload: Sequence[Union[Operation, Mapping[str, Data]]] = ()
    name: str | None = None
    arbiter: Data = None
    """A name, a map, or a list of these; a policy in Python is given to ``run``."""
    fidelity: Data = None
    values: dict[str, Data] = field(default_factory=dict)
    """The other keys: ``routing``, ``events``, ``ranks``, ``order``, ``optimize``, …"""

    def to_dict(self) -> dict[str, Data]:
        """The scenario as a map."""
        topology = self.topology
        if isinstance(topology, Topology):
            topology = topology.to_dict()
        elif isinstance(topology, os.PathLike):
            topology = os.fspath(topology)
        own = {"weir": 1, "name": self.name, "topology": topology, "arbiter": self.arbiter}
        own["fidelity"] = self.fidelity
        if not isinstance(self.workload, Sequence):
            raise TypeError(f"workload: give a list of items, not {type(self.workload).__name__}")
        items = [o.to_dict() if isinstance(o, Operation) else o for o in self.workload]
        return _once("scenario", [own, _values(self.values), {"workload": items}])

    def to_yaml(self) -> str:
        """The scenario as a file for the command: it gives the same result, to the picosecond."""
        return bounded(lambda: dump(self.to_dict()))


_Part = TypeVar("_Part", LinkType, Node, Link)


def _each(name: str, parts: Any, each: str, kind: type[_Part]) -> Sequence[_Part]:
    """A list of parts of one kind."""
    if not isinstance(parts, (list, tuple)):
        raise TypeError(f"{name}: give a list, not {type(parts).__name__}")
    for part in parts:
        if not isinstance(part, kind):
            functions = "`weir.gpu`, `weir.link_type` or `weir.link`"
            raise TypeError(f"{name}: each {each} is made by a function such as {functions}, not {part!r}")
    return parts


def _named(name: str, parts: Any, each: str, kind: type[LinkType] | type[Node]) -> dict[str, Data]:
    """What each part says, by its name."""
    named: dict[str, Data] = {}
    own: Sequence[Node] | Sequence[LinkType]
    own = _each(name, parts, each, Node) if kind is Node else _each(name, parts, each, LinkType)
    for part in own:
        if part.name in named:
            two = "two nodes" if kind is Node else "two link types"
            raise ValueError(f"{name}: {two} are called {part.name!r}: give each {each} a name of its own")
        named[part.name] = part.to_dict()
    return named


def _values(values: Any) -> Mapping[str, Data]:
    if not isinstance(values, Mapping):
        raise TypeError(f"values: give a dict of further keys, not {type(values).__name__}")
    return values


def _once(what: str, parts: Sequence[Mapping[str, Data]]) -> dict[str, Data]:
    """All that is given, in this order, where None is nothing; a key that is given twice is an error."""
    own: dict[str, Data] = {}
    for part in parts:
        for key, value in part.items():
            if value is None:
                continue
            if key in own:
                raise ValueError(f"{what}: `{key}` is given twice: give it once, by the parameter that it has")
            own[key] = _copied(value)
    return own


def _copied(value: Data) -> Data:
    """Dicts and lists anew: who changes what `to_dict` gave changes nothing else."""
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list) else value


def _known(what: str, /, **values: Data) -> dict[str, Data]:
    """The values that were given; ``from_`` stands for the key ``from``."""
    return _once(what, [{key.removesuffix("_"): value} for key, value in values.items()])


def link_type(name: str, *, bandwidth: str | None = None, **more: Data) -> LinkType:
    """A type of links: ``link_type("pcie", generation=4, width=16)``."""
    return LinkType(name, _known(f"link type {name!r}", bandwidth=bandwidth, **more))


def link(first: str, second: str, type: Data) -> Link:
    """A link beside the tree, of a named type or of one written in place."""
    return Link((first, second), type)


def node(name: str, *children: Node, kind: str | None = None, link: Data = None, **more: Data) -> Node:
    """A node of any kind; brackets in the name make several: ``gpu[0-7]``."""
    if isinstance(more.get("children"), (Node, list, tuple)):
        raise TypeError(f"node {name!r}: give the nodes below it one by one: switch('s', gpu('a'), gpu('b'))")
    return Node(name, kind, list(children), _known(f"node {name!r}", link=link, **more))


def root_complex(name: str, *children: Node, link: Data = None, **more: Data) -> Node:
    """A host bridge, which passes transfers on."""
    return node(name, *children, kind="root-complex", link=link, **more)


def switch(name: str, *children: Node, link: Data = None, **more: Data) -> Node:
    """A switch, which passes transfers on."""
    return node(name, *children, kind="switch", link=link, **more)


def network(name: str, *children: Node, link: Data = None, **more: Data) -> Node:
    """A network as one node, or a switch of one."""
    return node(name, *children, kind="network", link=link, **more)


def nic(name: str, *, link: Data = None, **more: Data) -> Node:
    """A network card."""
    return node(name, kind="nic", link=link, **more)


def gpu(name: str, *, link: Data = None, **more: Data) -> Node:
    """A GPU."""
    return node(name, kind="gpu", link=link, **more)


def fpga(name: str, *, link: Data = None, **more: Data) -> Node:
    """An FPGA."""
    return node(name, kind="fpga", link=link, **more)


def cpu(name: str, *, link: Data = None, **more: Data) -> Node:
    """A processor with its memory."""
    return node(name, kind="cpu", link=link, **more)


def host(name: str, *, link: Data = None, **more: Data) -> Node:
    """A machine as one endpoint."""
    return node(name, kind="host", link=link, **more)


def operation(key: str, **values: Data) -> Operation:
    """An operation by its key: ``operation("offload", id="o", device="gpu0", …)``."""
    return Operation(key, _known(key, **values))


def transfer(from_: str, to: str, size: str, **more: Data) -> Operation:
    """Bytes from a node to another; ``id``, ``start``, ``after``, ``weight``, … as in YAML."""
    return operation("transfer", from_=from_, to=to, size=size, **more)


def compute(device: str, time: str, **more: Data) -> Operation:
    """A computation of a device."""
    return operation("compute", device=device, time=time, **more)


def collective(kind: str, size: str, ranks: Data, **more: Data) -> Operation:
    """A collective operation, such as ``all-reduce``, of the devices ``ranks``."""
    return operation("collective", kind=kind, size=size, ranks=ranks, **more)
