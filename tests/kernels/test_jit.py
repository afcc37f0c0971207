import ast
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import NumbaError

import streamlearn
from streamlearn.kernels.jit import inner_kernel

PACKAGE = Path(streamlearn.__file__).parent


def _shift(values):
    values[:2] = values[1:3]
    return values[0]


def _tail(values):
    return values[1:]


def _sum_of_firsts(values):
    total = 0.0
    for i in range(values.shape[0]):
        total += values[i][0]
    return total


def test_an_inner_kernel_reads_slices_but_neither_copies_nor_gives_them():
    assert inner_kernel(_sum_of_firsts)(np.ones((3, 2))) == 3.0
    with pytest.raises(NumbaError, match="NRT required"):
        inner_kernel(_shift)(np.arange(3.0))
    with pytest.raises(NumbaError, match="Only accept returning of array passed into the function"):
        inner_kernel(_tail)(np.ones(3))


def test_an_inner_kernel_calls_no_other_kernels():
    functions = [
        node
        for path in (PACKAGE / "kernels").rglob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
    ]
    plain = {function.name for function in functions if _decorators(function) == {"kernel"}}
    inner = [function for function in functions if _decorators(function) == {"inner_kernel"}]
    assert plain
    assert inner
    forbidden = plain - {function.name for function in inner}
    for function in inner:
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in forbidden, function.name


def _decorators(function):
    return {each.id for each in function.decorator_list if isinstance(each, ast.Name)}
