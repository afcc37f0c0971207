import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import streamlearn

PACKAGE = Path(streamlearn.__file__).parent
SOURCES = ["__init__.py", "data.py", "kernels/__init__.py", "kernels/jit.py", "kernels/table.py"]


def cache_of(folder, **environment):
    """Give where the package copied to `folder` keeps its compiled kernels."""
    code = "from streamlearn.kernels.jit import CACHE; print(CACHE)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"XDG_CACHE_HOME": "/cache", "PYTHONPATH": str(folder)} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    for source in SOURCES:
        (folder / "streamlearn" / source).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / source, folder / "streamlearn" / source)
    return folder


def test_a_change_of_a_kernel_or_of_the_tuples_that_it_reads_starts_a_new_cache(copy):
    caches = [cache_of(copy)]
    assert caches[0].startswith("/cache/streamlearn/numba-")
    for changed in ("kernels/table.py", "data.py"):
        path = copy / "streamlearn" / changed
        path.write_text(path.read_text() + "\n")
        caches.append(cache_of(copy))
    assert len(set(caches)) == 3


def test_the_cache_can_be_put_elsewhere(copy):
    assert cache_of(copy, NUMBA_CACHE_DIR="/elsewhere") == "/elsewhere"
