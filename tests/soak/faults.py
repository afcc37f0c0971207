"""What is done to a daemon and to its state."""

import resource
import signal
import time

from streamlearn.checkpoint.local_files import checkpoint_files
from tests.soak.soak import Soak

STEPS = ("create", "write", "fsync", "replace", "fsync_directory", "prune", "done")


def kill(soak: Soak) -> None:
    """Kill -9 again and again, at any instant: while it starts, finds its place, learns or saves."""
    for _ in range(soak.random.randint(1, 8)):
        time.sleep(soak.random.uniform(0.0, 1.5))
        soak.daemon.kill()
        soak.daemon.start()


def kill_in_a_checkpoint(soak: Soak) -> None:
    """Kill -9 between two steps of a checkpoint."""
    kill_at(soak, soak.random.choice(STEPS))


def kill_at(soak: Soak, step: str) -> None:
    """Let it kill itself at a step."""
    soak.daemon.kill()
    soak.daemon.start(step)
    assert soak.daemon.wait() == -signal.SIGKILL
    soak.daemon.start()


def stop(soak: Soak) -> None:
    """SIGTERM: a clean end."""
    soak.daemon.send(signal.SIGTERM)
    assert soak.daemon.wait() == 0
    soak.daemon.start()


def freeze(soak: Soak) -> None:
    """SIGSTOP for a while, then SIGCONT."""
    soak.daemon.send(signal.SIGSTOP)
    time.sleep(soak.random.uniform(0.5, 4.0))
    soak.daemon.send(signal.SIGCONT)


def second_daemon(soak: Soak) -> None:
    """Another daemon on the same state."""
    assert soak.daemon.second() == 75


def damage(soak: Soak) -> None:
    """Tear, flip a bit of, or empty the newest checkpoint."""
    soak.daemon.kill()
    *older, newest = checkpoint_files(soak.daemon.state)
    assert older, "the only checkpoint must not be damaged"
    data = bytearray(newest.read_bytes())
    how = soak.random.choice(("tear", "flip", "empty"))
    if how == "flip":
        data[soak.random.randrange(len(data))] ^= 1 << soak.random.randrange(8)
    size = {"tear": soak.random.randrange(len(data)), "flip": len(data), "empty": 0}[how]
    newest.write_bytes(data[:size])
    soak.daemon.start()


def disk_full(soak: Soak) -> None:
    """No file may grow for a while: it continues without checkpoints, or stops at a dead letter."""
    limit_files(soak.daemon.pid, 1024)
    before = checkpoint_files(soak.daemon.state)
    time.sleep(soak.random.uniform(1.0, 4.0))
    # One that was under way may have been ended.
    assert len(set(checkpoint_files(soak.daemon.state)) - set(before)) <= 1
    if soak.daemon.ended() is None:
        limit_files(soak.daemon.pid, resource.RLIM_INFINITY)
    else:
        code = soak.daemon.wait()
        assert code == 74, f"the daemon ended with {code}"
        soak.daemon.start()


def limit_files(pid: int, size_bytes: int) -> None:
    """Let the files of a process grow no larger than that."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size_bytes, resource.RLIM_INFINITY))


OF_THE_DAEMON = (kill, kill_in_a_checkpoint, damage, freeze, stop, second_daemon, disk_full)
