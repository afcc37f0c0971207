"""How many rows, labels and positions the memory for weights has room for.

A row of n labels takes n numbers in each plane, a row for pairs of labels (1 + n) · n. The number of labels
grows with the stream: the room for rows shrinks whenever a label is added, by a rule of n alone, so that the
same stream always fills the same rows.

With many labels, learners whose updates change a few weights keep rows of pairs as lists of cells
(`streamlearn.kernels.chain.cells`): memory then follows the pairs that occur.
"""

from typing import NamedTuple

_GIB = 1 << 30
_BYTES = 8
# Working arrays of the size of the transitions of a sequence besides one for each plane that is read: scores,
# exponentials, probabilities and gradients.
_WORKING_ARRAYS = 6
# The number of labels above which rows of pairs become lists of cells. A row takes 8 KiB in each plane then.
_DENSE_LABELS = 32
# Of a cell, besides its planes: two numbers for its place and one for the next cell, of 4 bytes each.
_CELL_BYTES = 12


class Room(NamedTuple):
    """The room in some memory.

    Attributes
    ----------
    memory : bytes for weights and all arrays of their shape.
    planes : arrays of the weights' shape.
    max_rows : rows of the node and of the edge table, however much memory there is.
    second_order : whether triples of labels have weights.
    has_cells : whether rows of pairs may be lists of cells.

    Examples
    --------
    >>> room = Room(memory=1 << 30, planes=2, max_rows=(1 << 21, 1 << 20), second_order=False)
    >>> room.rows(9), room.rows(40), room.rows(1000)
    ((2097152, 215093), (657904, 12653), (26196, 21))
    >>> room.labels, room.positions(40)
    (4633, 10230)
    """

    memory: int
    planes: int
    max_rows: tuple[int, int]
    second_order: bool = False
    has_cells: bool = False

    @property
    def has_pair_features(self) -> bool:
        """Whether there are features of pairs of labels; row 0 of the edges is the plain transition."""
        return self.max_rows[1] > 1

    @property
    def labels(self) -> int:
        """The number of labels whose transitions take half of the memory; features need the rest."""
        low, high = 1, 1 << 17
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if 2 * self._transitions(middle) <= self.memory else (low, middle)
        return low

    def rows(self, n_labels: int) -> tuple[int, int]:
        """Return the rows of the node and of the edge table that have room, with this number of labels."""
        capacity = _capacity(n_labels)
        pairs = self._pairs(n_labels)
        node = (self._free(n_labels) - pairs) // (_BYTES * self.planes * capacity)
        edge = 1 + pairs // (_BYTES * self.planes * (1 + capacity) * capacity)
        edge = self.max_rows[1] if self.sparse(n_labels) else min(edge, self.max_rows[1])
        return min(node, self.max_rows[0]), edge

    def sparse(self, n_labels: int) -> bool:
        """Return whether rows of pairs are lists of cells, with this number of labels."""
        return self.has_cells and self.has_pair_features and n_labels > _DENSE_LABELS

    def cells(self, n_labels: int) -> int:
        """Return the number of cells that have room, where rows of pairs are lists of them."""
        return self._pairs(n_labels) // (_BYTES * self.planes + _CELL_BYTES) if self.sparse(n_labels) else 0

    def positions(self, n_labels: int) -> int:
        """Return the length of the longest sequence whose working arrays fit into the same memory again."""
        if not self.second_order and (self.sparse(n_labels) or not self.has_pair_features):
            return self.memory // (_BYTES * _WORKING_ARRAYS * (1 + n_labels))
        return self.memory // (_BYTES * (self.planes + _WORKING_ARRAYS) * (1 + n_labels) * max(1, n_labels))

    def _free(self, n_labels: int) -> int:
        return max(0, self.memory - self._transitions(n_labels))

    def _pairs(self, n_labels: int) -> int:
        """Return the bytes for features of pairs: half of what the transitions leave."""
        return self._free(n_labels) // 2 if self.has_pair_features else 0

    def _transitions(self, n_labels: int) -> int:
        """Return the bytes of weights that are there whatever the features are."""
        capacity = _capacity(n_labels)
        rows = 1 + (capacity if self.second_order else 0)
        return _BYTES * self.planes * rows * (1 + capacity) * capacity


def format_bytes(size: int) -> str:
    """Return a size in GiB or MiB.

    >>> format_bytes(4 << 30), format_bytes(26_500_000)
    ('4.0 GiB', '25.3 MiB')
    """
    return f"{size / _GIB:.1f} GiB" if size >= _GIB else f"{size / (1 << 20):.1f} MiB"


def _capacity(n_labels: int) -> int:
    """Return the largest capacity for labels that arrays have while they hold this number of them."""
    return n_labels + n_labels // 4 + 1
