"""`streamlearn broker`: the embedded broker, to try things without a Kafka of one's own."""

import time
from typing import Annotated

import typer


def broker(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on, at 127.0.0.1 only.")] = 9092,
) -> None:
    """Keep a Kafka-compatible broker running, for trying things out; Ctrl-C stops it.

    It holds topics in memory and forgets them when it stops, and has no users, no groups that survive and
    no replicas: not for data that matter. Needs pip install 'streamlearn[demo]'.
    """
    from streamlearn.app.stop import stop_on_signals
    from streamlearn.demo.broker import EmbeddedBroker

    with stop_on_signals() as stopping, EmbeddedBroker(port) as running:
        print(
            f"a broker listens on {running.server}; it holds topics in memory only, Ctrl-C stops it",
            flush=True,
        )
        while not stopping():
            running.check()
            time.sleep(0.2)
