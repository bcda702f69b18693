"""Opened: a capture as a view sees it, its texts readable, and the place that a request means."""

from typing import NamedTuple

from softlookup.captures import Axis, Capture, Layer
from softlookup.lookup import Lookup
from softlookup.shelf import Item
from softlookup.tokens import readable
from softlookup.viewer import arguments
from softlookup.viewer.arguments import Arguments


class Opened:
    """A capture of the shelf, with the texts that a view shows.

    Parameters
    ----------
    item : Item
        Loaded here.
    """

    def __init__(self, item: Item) -> None:
        self.item = item
        self.capture: Capture = item.load()
        self.title = readable(self.capture.title)
        self.axes: dict[Axis, int] = {}
        for layer in self.capture.layers:
            for axis in (*layer.queries, *layer.keys):
                self.axes.setdefault(axis, len(self.axes))
        self.texts = tuple(tuple(readable(text) for text in axis.tokens) for axis in self.axes)

    def readable(self, axis: Axis) -> tuple[str, ...]:
        """Return the texts along `axis` as they are shown."""
        return self.texts[self.axes[axis]]


class Place(NamedTuple):
    """One head of one batch entry of one layer, by positions."""

    layer: Layer
    head: int
    batch: int

    @property
    def look(self) -> Lookup:
        """The lookup of that head, over plain arrays."""
        return self.layer.head(self.layer.heads[self.head], self.batch)

    @property
    def queries(self) -> Axis:
        """What stands along the queries."""
        return self.layer.query_axis(self.batch)

    @property
    def keys(self) -> Axis:
        """What stands along the keys."""
        return self.layer.key_axis(self.batch)


def layer_of(opened: Opened, args: Arguments, name: str = "layer") -> Layer:
    """Return the layer at position `name`, the first where it is left out."""
    layers = opened.capture.layers
    return layers[arguments.whole(args, name, len(layers), default=0)]


def place_of(opened: Opened, args: Arguments) -> Place:
    """Return the head that `layer`, `head` and `batch` choose, the first ones where left out."""
    layer = layer_of(opened, args)
    problem = layer.look.problem
    batch = arguments.whole(args, "batch", problem.batch, default=0)
    return Place(layer, arguments.whole(args, "head", problem.heads, default=0), batch)
