"""Work spread over processes, none of which is left behind however it ends.

A worker is a plain child process that reads tasks from a pipe and ends with it. `multiprocessing` would run
the user's script again in each, and handle Ctrl-C in all of them.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import IO, Any, TypeVar

from streamlearn.errors import StreamlearnError

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(
    work: Callable[[Shared, Task], Result],
    shared: Shared,
    tasks: Sequence[Task],
    processes: int,
    fresh: bool = False,
) -> Iterator[tuple[Task, Result]]:
    """Yield each task with its result, in the order of completion.

    Parameters
    ----------
    work : a module-level function; its arguments and results are pickled.
    shared : sent to every process once.
    processes : maximum number; with one, and unless `fresh`, the work is done in this process.
    fresh : start a new process for every task, so that its memory can be measured.

    Raises
    ------
    StreamlearnError : a process died; it writes to the standard error of this one.
    """
    processes = min(processes, len(tasks))
    if processes < 2 and not fresh:
        yield from ((task, work(shared, task)) for task in tasks)
        return
    crew = _Crew((work, shared), tasks, fresh)
    try:
        crew.begin(processes)
        for _ in tasks:
            number, result = crew.results.get()
            if isinstance(result, StreamlearnError):
                raise result
            yield tasks[number], result
    finally:
        crew.end()


class _Crew:
    """Threads that each feed one process."""

    def __init__(self, given: Any, tasks: Sequence[Any], fresh: bool) -> None:
        self._given = pickle.dumps(given)
        self._tasks = iter(enumerate(tasks))
        self._fresh = fresh
        self._lock = Lock()
        self._ended = False
        self._alive: set[subprocess.Popen[bytes]] = set()
        self._threads: list[Thread] = []
        self.results: SimpleQueue[tuple[int, Any]] = SimpleQueue()

    def begin(self, processes: int) -> None:
        for _ in range(processes):
            self._threads.append(Thread(target=self._feed, daemon=True))
            self._threads[-1].start()

    def end(self) -> None:
        """Kill the processes that are still working; they hold nothing that must be saved."""
        with self._lock:
            self._ended = True
            for process in self._alive:
                process.kill()
        for thread in self._threads:
            thread.join()

    def _feed(self) -> None:
        while (task := self._next()) is not None:
            process = self._start()
            if process is None:
                return
            # Input that a dead process has not read cannot be flushed.
            with suppress(BrokenPipeError), process:
                while task is not None:
                    self.results.put((task[0], _ask(process, task[1])))
                    task = None if self._fresh else self._next()
            with self._lock:
                self._alive.discard(process)

    def _next(self) -> tuple[int, Any] | None:
        with self._lock:
            return None if self._ended else next(self._tasks, None)

    def _start(self) -> subprocess.Popen[bytes] | None:
        serve = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
        with self._lock:
            if self._ended:
                return None
            # A process group of its own: only the parent handles Ctrl-C.
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and code
                [sys.executable, "-c", serve], stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
            )
            self._alive.add(process)
        with suppress(BrokenPipeError):
            _input(process).write(self._given)
        return process


def _input(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdin is not None  # noqa: S101 - it was opened as a pipe
    return process.stdin


def _ask(process: subprocess.Popen[bytes], task: Any) -> Any:
    assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
    try:
        pickle.dump(task, _input(process))
        _input(process).flush()
        return pickle.load(process.stdout)  # noqa: S301 - written by our own code
    except (EOFError, BrokenPipeError, pickle.UnpicklingError):
        code = process.wait()
        cause = (
            f"by signal {-code}: if memory ran out, use fewer processes or smaller tables" if code < 0 else ""
        )
        return StreamlearnError(f"a worker process ended with exit code {code} {cause}".rstrip())


def serve() -> None:
    """Run as a worker: read the work, then tasks, until the parent closes the pipe or dies."""
    results = os.fdopen(os.dup(1), "wb")
    # Whatever is printed must not get between the results.
    os.dup2(2, 1)
    received = _received()
    given = next(received, None)
    if given is None:
        return
    work, shared = given
    with suppress(BrokenPipeError):
        for task in received:
            pickle.dump(work(shared, task), results)
            results.flush()


def _received() -> Iterator[Any]:
    # The parent may have died while writing.
    with suppress(EOFError, pickle.UnpicklingError):
        while True:
            yield pickle.load(sys.stdin.buffer)  # noqa: S301 - written by our own parent
