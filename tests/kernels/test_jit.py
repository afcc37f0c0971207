import ast
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import NumbaError

import streamlearn
from streamlearn.kernels.jit import inner_kernel

PACKAGE = Path(streamlearn.__file__).parent
KERNELS = ["__init__", "jit", *(f"features/{name}" for name in ("__init__", "keys", "strings", "table"))]
SOURCES = ["__init__.py", "data.py", *(f"kernels/{name}.py" for name in KERNELS)]


def caches_of(folder, **environment):
    """Give where the package copied to `folder` keeps the code of a callee, its caller, and of another."""
    code = (
        "from streamlearn.kernels import jit\n"
        "from streamlearn.kernels.features import keys, strings, table\n"
        "print(*(jit.cache_of(jit.Path(module.__file__)) for module in (keys, strings, table)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"XDG_CACHE_HOME": "/cache", "PYTHONPATH": str(folder)} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.fixture
def copy(tmp_path):
    for source in SOURCES:
        (tmp_path / "streamlearn" / source).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / source, tmp_path / "streamlearn" / source)
    return tmp_path


def change(copy, source):
    path = copy / "streamlearn" / source
    path.write_text(path.read_text() + "\n")


def test_a_change_of_the_tuples_that_kernels_read_starts_new_caches(copy):
    before = caches_of(copy)
    assert all(path.startswith("/cache/streamlearn/numba-") for path in before)
    change(copy, "data.py")
    assert not set(before) & set(caches_of(copy))


def test_a_change_of_a_kernel_starts_a_new_cache_for_it_and_its_callers_alone(copy):
    keys, strings, table = caches_of(copy)
    change(copy, "kernels/features/keys.py")
    new_keys, new_strings, same = caches_of(copy)
    assert new_keys != keys
    assert new_strings != strings
    assert same == table


def test_the_cache_can_be_put_elsewhere(copy):
    assert {Path(path).parent for path in caches_of(copy, NUMBA_CACHE_DIR="/elsewhere")} == {
        Path("/elsewhere")
    }


def test_compiled_code_goes_to_the_cache_of_its_module(copy, tmp_path):
    cache = tmp_path / "cache"
    code = (
        "from streamlearn.kernels.features.keys import mix; import numpy as np; "
        "mix(np.uint64(1), np.uint64(2))"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=copy,
        env={"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(copy)},
        check=True,
    )
    assert {path.name.partition("-")[0] for path in cache.iterdir()} == {"keys"}


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
