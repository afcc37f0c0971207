"""The bounded table of features: 64-bit keys to rows of the weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.errors import CheckpointError
from streamlearn.kernels.features.expansion import add_features, find_features
from streamlearn.kernels.features.keys import Macros
from streamlearn.kernels.features.table import add_rows, find_rows


class FeatureTable:
    """Rows for the first `capacity` distinct keys; later ones are refused and counted.

    Memory is reserved once: nothing is re-allocated while learning, and untouched pages cost nothing.
    """

    def __init__(self, capacity: int) -> None:
        slots = 1 << max(4, (2 * capacity - 1).bit_length())
        self.keys: NDArray[np.uint64] = np.zeros(capacity, np.uint64)
        self._slots: NDArray[np.int32] = np.zeros(slots, np.int32)
        self.size = 0
        self.refused = 0

    def find(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the row of each key of a flat array, -1 for unknown ones."""
        rows = np.empty(keys.size, np.int32)
        find_rows(keys, self._slots, self.keys, rows)
        return rows

    def add(
        self, keys: NDArray[np.uint64], room: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the row of each key, adding new keys while there is room.

        Parameters
        ----------
        room : rows after which new keys are refused; by default the capacity.

        Returns
        -------
        rows int32[keys.size], -1 where the table is full; and for each new row the place in `keys`
        where it was first seen.
        """
        rows = np.empty(keys.size, np.int32)
        row_keys = self._with_room(room)
        new = np.empty(min(keys.size, len(row_keys) - self.size), np.int64)
        size, refused = add_rows(keys, self.size, self._slots, row_keys, rows, new)
        new = new[: size - self.size]
        self.size = size
        self.refused += refused
        return rows, new

    def find_expanded(
        self, macros: Macros, values: NDArray[np.uint64], starts: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Return the row of each feature that templates generate from a batch, -1 for unknown ones."""
        rows = np.empty(len(values) * len(macros.seeds), np.int32)
        find_features(macros, values, starts, self._slots, self.keys, rows)
        return rows

    def add_expanded(
        self,
        macros: Macros,
        values: NDArray[np.uint64],
        starts: NDArray[np.int64],
        row_templates: NDArray[np.int16],
        row_values: NDArray[np.uint64],
        room: int | None = None,
    ) -> NDArray[np.int32]:
        """Return the same, adding new features while there is room, -1 after that.

        Parameters
        ----------
        room : as for `add`.
        macros, values, starts, row_templates, row_values : as in `streamlearn.kernels.features.expansion`.
        """
        rows = np.empty(len(values) * len(macros.seeds), np.int32)
        self.size, refused = add_features(
            macros, values, starts, self.size, self._slots, self._with_room(room), row_templates, row_values,
            rows,
        )  # fmt: skip
        self.refused += refused
        return rows

    def _with_room(self, room: int | None) -> NDArray[np.uint64]:
        """Return the keys by row, up to the last row that may be used."""
        return self.keys if room is None else self.keys[: max(room, self.size)]

    def clear(self) -> None:
        """Forget all keys."""
        self.size = 0
        self._slots[:] = 0

    def state(self) -> dict[str, Any]:
        """Return the keys in row order, as a view of values that no longer change, and the refusals."""
        keys = self.keys[: self.size]
        keys.flags.writeable = False
        return {"keys": keys, "refused": self.refused}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state.

        Raises
        ------
        CheckpointError : it has more features than this table can hold.
        """
        keys = state["keys"]
        if keys.size > self.keys.size:
            raise CheckpointError(
                f"{keys.size} features in the checkpoint, room for {self.keys.size}: "
                "raise features.max_features or features.max_edge_features"
            )
        self.clear()
        self.add(keys)
        self.refused = state["refused"]
