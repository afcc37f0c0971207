"""The daemon under test, as a process that can be started, killed and inspected."""

import multiprocessing
import os
import signal
from multiprocessing.process import BaseProcess
from pathlib import Path

from streamlearn.checkpoint.local_files import checkpoint_files, describe, open_checkpoint
from streamlearn.checkpoint.state import Checkpoint
from tests.soak import worker
from tests.soak.oracle import Oracle
from tests.waiting import until

SECONDS = 300

# Each life is forked from a process that has imported everything: a start takes tenths of a second, so
# that random instants are instants of its work.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.soak.soak", "tests.soak.worker"])


class Daemon:
    """One state directory, one topic, and the process that works on them; `kills` counts its SIGKILLs."""

    def __init__(self, server: str, topic: str, folder: Path) -> None:
        self.state = folder / "state"
        self.state.mkdir(parents=True)
        self.log = folder / "log"
        self.kills = 0
        self._options = {"server": server, "topic": topic, "state": str(self.state), "log": str(self.log)}
        self._process: BaseProcess | None = None

    def start(self, step: str | None = None) -> None:
        """Start it, if need be one that kills itself at a step of a checkpoint."""
        self._process = self._spawn(step)

    @property
    def pid(self) -> int:
        """The number of its process."""
        assert self._process is not None
        assert self._process.pid is not None
        return self._process.pid

    def kill(self) -> None:
        """Kill -9."""
        self.send(signal.SIGKILL)
        assert self.wait() == -signal.SIGKILL

    def send(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def wait(self) -> int:
        """Wait until it has ended; give the exit code."""
        assert self._process is not None
        code = _end_of(self._process)
        self.kills += code == -signal.SIGKILL
        return code

    def second(self) -> int:
        """Start another one on the same state; give its exit code."""
        return _end_of(self._spawn(None))

    def ended(self) -> int | None:
        """Return the exit code, None while it runs."""
        assert self._process is not None
        return self._process.exitcode

    def end(self) -> None:
        """Leave no process behind."""
        if self._process is not None:
            self._process.kill()
            self._process.join()

    def has_checkpoints(self, count: int) -> bool:
        """Return whether there are at least `count` checkpoints."""
        self.require_alive()
        return len(checkpoint_files(self.state)) >= count

    def newest(self) -> Checkpoint | None:
        """Describe the newest checkpoint, from its header alone."""
        files = checkpoint_files(self.state)
        return describe(files[-1]).checkpoint if files else None

    def oldest_positions(self) -> dict[int, int]:
        """Return the positions of the oldest checkpoint; none before the first."""
        files = checkpoint_files(self.state)
        return _positions(describe(files[0]).checkpoint if files else None)

    def positions(self) -> dict[int, int]:
        """Return the positions at which the next process will continue, while none is running."""
        return _positions(open_checkpoint(self.state).checkpoint)

    def oracle(self) -> Oracle:
        """Return what the newest checkpoint that verifies has applied."""
        oracle = Oracle()
        oracle.restore(open_checkpoint(self.state).checkpoint.model)
        return oracle

    def reaches(self, offsets: dict[int, int]) -> bool:
        """Return whether the newest checkpoint is beyond these offsets."""
        at = _positions(self.newest())
        return all(at.get(partition, 0) > offset for partition, offset in offsets.items())

    def require_alive(self) -> None:
        """Fail if it has ended."""
        assert self.ended() is None, f"the daemon ended with {self.ended()}:\n{self.log.read_text()[-3000:]}"

    def recovered_since(self, unix_seconds: float) -> bool:
        """Return whether it has saved anything since a time, which it does only if it has read something."""
        self.require_alive()
        newest = self.newest()
        return newest is not None and newest.created_unix > unix_seconds

    def _spawn(self, step: str | None) -> BaseProcess:
        process = _FORKS.Process(target=worker.main, args=(self._options | {"step": step},), daemon=True)
        process.start()
        return process


def _end_of(process: BaseProcess) -> int:
    until(lambda: process.exitcode is not None, SECONDS, "the daemon's end")
    assert process.exitcode is not None
    return process.exitcode


def _positions(checkpoint: Checkpoint | None) -> dict[int, int]:
    if checkpoint is None:
        return {}
    return {tp.partition: at.next_offset for tp, at in checkpoint.positions.items()}
