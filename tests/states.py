"""Comparing states bit for bit."""

from typing import Any

import numpy as np


def differences(one: Any, two: Any, path: str = "") -> list[str]:
    """Name the places where two state trees differ."""
    if isinstance(one, dict) and isinstance(two, dict):
        if one.keys() != two.keys():
            return [f"{path}: {sorted(one)} / {sorted(two)}"]
        return [place for key in one for place in differences(one[key], two[key], f"{path}/{key}")]
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        same = one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()
        return [] if same else [path]
    return [] if type(one) is type(two) and one == two else [path]
