import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import streamlearn

PACKAGE = Path(streamlearn.__file__).parent
KERNELS = [
    "__init__",
    "arrays",
    "cache",
    "jit",
    *(f"features/{name}" for name in ("__init__", "keys", "strings", "table")),
]
SOURCES = ["__init__.py", "data.py", *(f"kernels/{name}.py" for name in KERNELS)]


def caches_of(folder, **environment):
    """Return where the package copied to `folder` keeps the code of a callee, its caller, and of another."""
    code = (
        "from streamlearn.kernels.features.keys import mix\n"
        "from streamlearn.kernels.features.strings import hash_strings\n"
        "from streamlearn.kernels.features.table import find\n"
        "print(*(kernel._cache.cache_path for kernel in (mix, hash_strings, find)))"
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


MIX = "from streamlearn.kernels.features.keys import mix; import numpy as np; mix(np.uint64(1), np.uint64(2))"
STATISTICS = "; print(sum(mix.stats.cache_hits.values()), sum(mix.stats.cache_misses.values()))"
# Root may write everywhere; without these capabilities it may not.
CAPABILITIES = "-dac_override,-dac_read_search"
POWERLESS = (
    ["setpriv", f"--bounding-set={CAPABILITIES}", f"--inh-caps={CAPABILITIES}"] if os.getuid() == 0 else []
)
powerless = pytest.mark.skipif(
    bool(POWERLESS) and shutil.which("setpriv") is None, reason="root needs setpriv to be like other users"
)


def mixed(folder, **environment):
    """Run a kernel; return (loaded from the cache, compiled), and what was reported."""
    done = subprocess.run(
        [*POWERLESS, sys.executable, "-c", MIX + STATISTICS],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/nowhere"} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(map(int, done.stdout.split())), done.stderr.splitlines()


def everything_in(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.fixture
def cache(copy, tmp_path):
    """Return a cache that holds the kernel; it can be removed whatever a test does to it."""
    cache = tmp_path / "cache"
    assert mixed(copy, NUMBA_CACHE_DIR=str(cache)) == ((0, 1), [])
    yield cache
    cache.chmod(0o755)


@powerless
def test_a_cache_that_can_only_be_read_is_read(copy, cache):
    for folder in (cache, *cache.iterdir()):
        folder.chmod(0o555)
    before = everything_in(copy)
    assert mixed(copy, NUMBA_CACHE_DIR=str(cache)) == ((1, 0), [])
    assert everything_in(copy) == before


@powerless
def test_what_cannot_be_kept_is_reported_once_and_goes_nowhere_else(copy, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    before = everything_in(tmp_path)
    counts, (line,) = mixed(copy, NUMBA_CACHE_DIR=str(closed / "cache"))
    assert counts == (0, 1)
    assert "cannot write the cache" in line
    assert "NUMBA_CACHE_DIR" in line
    assert everything_in(tmp_path) == before


@powerless
def test_a_cache_that_cannot_be_read_is_reported(copy, cache):
    cache.chmod(0)
    counts, lines = mixed(copy, NUMBA_CACHE_DIR=str(cache))
    assert counts == (0, 1)
    assert "cannot read the cache" in lines[0]


def test_a_user_without_a_home_has_no_cache():
    code = "from streamlearn.kernels.cache import cache_directory; print(cache_directory())"
    environment = {"HOME": "~", "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert done.stdout.startswith(b"/dev/null/")


def test_damaged_machine_code_is_compiled_again(copy, cache):
    for path in cache.rglob("*.nb?"):
        path.write_bytes(path.read_bytes()[:40])
    assert mixed(copy, NUMBA_CACHE_DIR=str(cache))[0] == (0, 1)


def test_the_caches_of_other_numba_functions_stay_where_they_are():
    code = (
        "import numba; before = numba.config.CACHE_DIR, numba.config.CACHE_LOCATOR_CLASSES\n"
        "import streamlearn.kernels.features.keys\n"
        "assert before == (numba.config.CACHE_DIR, numba.config.CACHE_LOCATOR_CLASSES)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, check=True)
