"""Names of array types by their dtype, for the signatures of kernels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

AnyArray = NDArray[Any]
Integers = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]
Int32s = NDArray[np.int32]
Int16s = NDArray[np.int16]
Uint64s = NDArray[np.uint64]
Uint8s = NDArray[np.uint8]
