"""A daemon with an oracle for a model."""

import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from streamlearn.app.compatibility import require_same_stream
from streamlearn.app.dead_letter_sink import DeadLetterSink
from streamlearn.app.stop import stop_on_signals
from streamlearn.checkpoint.local import CheckpointStore
from streamlearn.checkpoint.schedule import CheckpointSchedule
from streamlearn.checkpoint.writer import BackgroundWriter
from streamlearn.daemon.bad_records import Tolerance
from streamlearn.daemon.checkpointer import Checkpointer, RunInfo, Snapshot
from streamlearn.daemon.duplicates import Duplicates
from streamlearn.daemon.intake import BatchReader
from streamlearn.daemon.loop import Loop
from streamlearn.data import Position, TopicPartition
from streamlearn.errors import StreamlearnError
from streamlearn.stream.deadletters.outbox import Outbox
from streamlearn.stream.deadletters.spool import Spool
from streamlearn.stream.kafka.consumer import KafkaSource
from streamlearn.stream.kafka.read_settings import ReadSettings
from tests.soak.oracle import Oracle

SPOOL = "dead-letters.jsonl"


class State:
    """The oracle as what a checkpoint saves."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def snapshot(self, positions: Mapping[TopicPartition, Position]) -> Snapshot:
        """Copy it."""
        return Snapshot(dict(positions), 0, {}, self._oracle.state(), {})


def fatal(step: str | None, after: int) -> Callable[[str], None]:
    """Return a hook that ends the process at a step of the checkpoint number `after`."""
    left = after

    def hook(at: str) -> None:
        nonlocal left
        left -= at == "create"
        if at == step and left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


def run(options: Mapping[str, Any], stopping: Callable[[], bool], stack: ExitStack) -> None:
    """Be a daemon."""
    directory = Path(options["state"])
    store = CheckpointStore(directory, on_step=fatal(options.get("step"), 3))
    stack.enter_context(store.lock())
    loaded = store.load_newest()
    oracle = Oracle()
    if loaded:
        oracle.restore(loaded.checkpoint.model)

    def missed(tp: TopicPartition, at: int, count: int) -> None:
        oracle.removed[f"{tp.partition}@{at}"] = count

    source = KafkaSource(
        {"bootstrap_servers": options["server"]},
        ReadSettings(
            [options["topic"]],
            on_gap="continue",
            max_poll_records=200,
            discovery_seconds=1.0,
            stall_seconds=20.0,
            silence_seconds=2.0,
        ),
        on_lost=lambda tp, count: missed(tp, source.status()[tp].position, count),
        stopping=stopping,
    )
    stack.callback(source.close)
    identity = source.identity()
    if loaded:
        require_same_stream(loaded.checkpoint.identity, identity)
    positions = dict(loaded.checkpoint.positions) if loaded else source.start_positions()
    for tp, count in source.open(positions).items():
        missed(tp, positions[tp].next_offset, count)
    writer = BackgroundWriter(store)
    stack.callback(writer.close)
    seq = loaded.checkpoint.seq if loaded else -1
    checkpointer = Checkpointer(
        writer,
        CheckpointSchedule(0.3, 500),
        State(oracle),
        RunInfo("soak", "run", "0", "digest", {}, identity, {}, seq),
        lambda _: None,
        lambda _: None,
    )
    loop = Loop(
        source,
        positions,
        BatchReader(oracle, oracle, Duplicates(), Tolerance(None, 1)),  # type: ignore[arg-type]
        DeadLetterSink(Outbox(None, Spool(directory / SPOOL), lambda *_: None), "soak"),
        oracle,  # type: ignore[arg-type]
        checkpointer,
        lambda _: None,
    )
    loop.run(stopping)


def main(options: Mapping[str, Any]) -> None:
    """Run until a stop is requested; end with the exit code of a daemon."""
    with Path(options["log"]).open("ab") as log:
        os.dup2(log.fileno(), 2)
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(process)d %(message)s", stream=sys.__stderr__
    )
    logging.Formatter.converter = time.gmtime
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    try:
        with stop_on_signals() as stopping, ExitStack() as stack:
            run(options, stopping, stack)
    except StreamlearnError as error:
        # The disk may be full for the log, too.
        with suppress(OSError):
            print(error, file=sys.__stderr__)
        sys.exit(error.exit_code)
