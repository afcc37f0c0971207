"""The command as a user types it, and states to run it on."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from streamlearn.app.build_tagger import build_tagger
from streamlearn.checkpoint.location import open_store
from streamlearn.checkpoint.state import Checkpoint
from streamlearn.config.learned_part import digest, learned_part
from streamlearn.config.load import load
from streamlearn.data import Example, Position, StreamIdentity, TopicPartition
from streamlearn.monitor.progressive import Progressive


def streamlearn(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own."""
    command = [sys.executable, "-c", "from streamlearn.cli.main import main; main()", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=120)


State = TypeVar("State", Path, str)


def save_state(
    config: Path, examples: Sequence[Example], state: State, overrides: Sequence[str] = (), **changes: Any
) -> State:
    """Learn examples, and save one checkpoint of it in a directory or at a URL."""
    settings = load(config, overrides)
    tagger = build_tagger(settings)
    tagger.learn_many(examples)
    store = open_store(str(state))
    store.make()
    part = learned_part(settings)
    with store.lock():
        checkpoint = Checkpoint(
            model_id="test",
            run_id="r",
            seq=3,
            created_unix=1.7e9,
            app_version="0",
            config_digest=digest(part),
            config=part,
            identity=StreamIdentity("cluster", {"orders": "id"}),
            positions={TopicPartition("orders", 0): Position(len(examples))},
            sequences_seen=len(examples),
            progressive=Progressive().state(),
            model=tagger.state(),
        )
        store.save(replace(checkpoint, **changes))
    return state
