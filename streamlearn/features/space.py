"""The feature space: the features that are active at each position of a batch, as rows of the weights."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Batch, Rows
from streamlearn.features.table import FeatureTable
from streamlearn.features.templates import MAX_SHIFT, Template
from streamlearn.features.values import NameBook, stable_id
from streamlearn.features.views import View
from streamlearn.kernels.features.keys import Macros

PLAIN_TRANSITION = "B"


def views_of(templates: Iterable[Template]) -> list[View]:
    """Return the distinct views that templates read, in the order of first use."""
    return list(dict.fromkeys(macro.view for template in templates for macro in template.macros))


class _TemplateGroup:
    """Templates whose features share a table, with the template and values of each row."""

    def __init__(
        self, templates: Sequence[Template], views: Sequence[View], capacity: int, names: NameBook
    ) -> None:
        self._templates = templates
        self._names = names
        self.table = FeatureTable(capacity)
        macros = [macro for template in templates for macro in template.macros]
        counts = [len(template.macros) for template in templates]
        self._macros = Macros(
            # Each macro is represented by a character that no line can contain.
            seeds=np.array([stable_id("\n".join(template.literals)) for template in templates], np.uint64),
            macro_starts=np.cumsum([0, *counts], dtype=np.int64),
            shifts=np.array([macro.shift for macro in macros], np.int64),
            views=np.array([views.index(macro.view) for macro in macros], np.int64),
            pad_before=_padding("-", names),
            pad_after=_padding("+", names),
        )
        self._row_template = np.full(capacity if names.keeps else 0, -1, np.int16)
        self._row_values = np.zeros((capacity if names.keeps else 0, max(counts, default=0)), np.uint64)

    def __len__(self) -> int:
        return len(self._templates)

    def rows(self, batch: Batch, grow: bool, room: int) -> NDArray[np.int32]:
        """Return the rows of a batch's features, flattened int32[n · K], adding new ones if `grow`."""
        if not grow:
            return self.table.find_expanded(self._macros, batch.values, batch.starts)
        return self.table.add_expanded(
            self._macros, batch.values, batch.starts, self._row_template, self._row_values, room
        )

    def attribute_rows(self, batch: Batch, grow: bool, room: int) -> NDArray[np.int32]:
        """Return the rows of ready-made features, whose keys are the ids of their names."""
        return self.table.add(batch.attributes, room)[0] if grow else self.table.find(batch.attributes)

    def name(self, row: int) -> str:
        """Return the name of the feature of a row: ``U00:the/DT``."""
        number = int(self._row_template[row]) if self._names.keeps else -1
        if number < 0:
            return self._names.get(int(self.table.keys[row]))
        template = self._templates[number]
        values = self._row_values[row, : len(template.macros)].tolist()
        return template.expand([self._names.get(key) for key in values])

    def state(self) -> dict[str, Any]:
        n = self.table.size if self._names.keeps else 0
        found = {
            "seeds": self._macros.seeds[:],
            "templates": self._row_template[:n],
            "values": self._row_values[:n],
        }
        for values in found.values():
            # The template and values of a row are written once, and never change.
            values.flags.writeable = False
        return self.table.state() | found

    def restore(self, state: dict[str, Any]) -> None:
        self.table.restore(state)
        if self._names.keeps:
            # Templates may have been added, moved or removed since.
            numbers = {seed: number for number, seed in enumerate(self._macros.seeds.tolist())}
            now = np.array([*(numbers.get(seed, -1) for seed in state["seeds"].tolist()), -1], np.int16)
            n, width = state["values"].shape
            width = min(width, self._row_values.shape[1])
            self._row_template[:] = -1
            self._row_template[:n] = now[state["templates"]]
            self._row_values[:n, :width] = state["values"][:, :width]


def _padding(sign: str, names: NameBook) -> NDArray[np.uint64]:
    texts = [f"_B{sign}{n}" for n in range(1, MAX_SHIFT + 1)]
    for text in texts:
        names.add(stable_id(text), text)
    return np.array([stable_id(text) for text in texts], np.uint64)


class FeatureSpace:
    """Templates of single labels ("node") and of pairs of labels ("edge"), with one table for each.

    Row 0 of the edge table is the plain transition.

    Parameters
    ----------
    templates : as parsed; none if examples have ready-made features.
    max_features, max_edge_features : capacity of each table in rows.
    names : keeps the strings of values.
    """

    def __init__(
        self, templates: Sequence[Template], max_features: int, max_edge_features: int, names: NameBook
    ) -> None:
        self.views = views_of(templates)
        self.second_order = any(t.kind == "T" for t in templates)
        self.plain_edges = not templates or any(t.is_plain_transition for t in templates)
        node = [t for t in templates if t.kind == "U"]
        both = [t for t in templates if t.kind == "*"]
        edge = both + [t for t in templates if t.kind == "B" and not t.is_plain_transition]
        self._edge_singles = len(both)
        self._node = _TemplateGroup(node, self.views, max_features, names)
        # Rows of pairs take the most memory: none are reserved if no template needs them.
        self._edge = _TemplateGroup(edge, self.views, 1 + (max_edge_features if edge else 0), names)
        self._edge.table.add(np.array([stable_id(PLAIN_TRANSITION)], np.uint64))
        self._names = names
        # Encoding is ahead of learning; a state contains only the names of learned batches.
        self._names_known = len(names)

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows in use in the node and in the edge table."""
        return self._node.table.size, self._edge.table.size

    @property
    def capacities(self) -> tuple[int, int]:
        """Capacity in rows of the node and of the edge table."""
        return self._node.table.keys.size, self._edge.table.keys.size

    @property
    def refused(self) -> int:
        """Feature instances that a full table refused."""
        return self._node.table.refused + self._edge.table.refused

    def fits(self, batch: Batch, room: tuple[int, int]) -> bool:
        """Return whether there is room for all features of a batch even if all were new."""
        n = int(batch.starts[-1])
        node = len(batch.attributes) if not self.views else n * len(self._node)
        return self.sizes[0] + node <= room[0] and self.sizes[1] + n * len(self._edge) <= room[1]

    def rows(self, batch: Batch, grow: bool, room: tuple[int, int] | None = None) -> Rows:
        """Look up a batch's features; with `grow`, new ones are assigned rows while there is room.

        Parameters
        ----------
        room : rows of the node and of the edge table after which new features are refused; by default all.
        """
        room = room or self.capacities
        n = int(batch.starts[-1])
        if grow:
            self._names_known = batch.names_known
        if not self.views:
            node_starts, node_rows = batch.attribute_starts, self._node.attribute_rows(batch, grow, room[0])
        else:
            node_starts = np.arange(n + 1, dtype=np.int64) * len(self._node)
            node_rows = self._node.rows(batch, grow, room[0])
        edge_rows = self._edge.rows(batch, grow, room[1])
        return Rows(
            starts=batch.starts,
            node_starts=node_starts,
            node_rows=node_rows,
            node_values=batch.attribute_values,
            edge_starts=np.arange(n + 1, dtype=np.int64) * len(self._edge),
            edge_rows=edge_rows,
            edge_singles=self._edge_singles,
            used=self.sizes,
        )

    def node_name(self, row: int) -> str:
        """Return the name of the feature of a row of the node weights."""
        return self._node.name(row)

    def edge_name(self, row: int) -> str:
        """Return the name of the feature of a row of the edge weights."""
        return PLAIN_TRANSITION if row == 0 else self._edge.name(row)

    def state(self) -> dict[str, Any]:
        """Return the tables and the strings of their rows, as views of values that no longer change."""
        return {
            "node": self._node.state(),
            "edge": self._edge.state(),
            "names": self._names.state(self._names_known),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state.

        Raises
        ------
        CheckpointError : it has more features than the tables can hold.
        """
        self._node.restore(state["node"])
        self._edge.restore(state["edge"])
        self._names.restore(state["names"])
        self._names_known = len(self._names)
