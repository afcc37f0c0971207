"""The demo: an embedded broker, a producer of generated sequences, and the same daemon as `run`."""

import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from streamlearn.app.build_tagger import warm_up
from streamlearn.app.run import Daemon
from streamlearn.config.load import load
from streamlearn.config.schema import Config
from streamlearn.demo.broker import EmbeddedBroker
from streamlearn.demo.demo_options import DemoOptions
from streamlearn.demo.feed import Feed
from streamlearn.demo.hmm import SETUPS, ShiftingStream
from streamlearn.demo.summary import Summary
from streamlearn.demo.view import ViewState
from streamlearn.errors import BrokerUnavailableError, TelemetryError, UsageError
from streamlearn.stream.kafka.producer import create_topic

_NAME = "hmm-demo.yaml"
# The paper's third setup with a larger vocabulary, so that the learning curve rises over some seconds.
_SETUP = replace(SETUPS[3], spellings=50)


def load_config(options: DemoOptions) -> Config:
    """Load the demo's configuration: next to this file if installed, from ``configs/`` in a checkout."""
    packaged = Path(__file__).with_name(_NAME)
    path = packaged if packaged.exists() else Path(__file__).parents[2] / "configs" / _NAME
    return load(path, options.overrides)


@dataclass(slots=True)
class Demo:
    """One run of the demo.

    Attributes
    ----------
    options : of the run.
    config : see `load_config`.
    summary : counts the daemon's events.
    view : updated during the run; its `asked` requests a stop.
    report : called with each step in words, before it starts.
    """

    options: DemoOptions
    config: Config
    summary: Summary
    view: ViewState
    report: Callable[[str], None]
    _is_ending: bool = field(default=False, init=False)
    _broker: EmbeddedBroker | None = field(default=None, init=False)
    _scratch: Path | None = field(default=None, init=False)

    def run(self) -> None:
        """Run until a limit or a requested stop; leave nothing behind but `options.state`."""
        try:
            with ExitStack() as stack:
                directory = self._open_state(stack)
                self.report("starting the broker")
                self._broker = stack.enter_context(EmbeddedBroker())
                self._run(stack, self._local_config(self._broker.server, directory))
        except BrokerUnavailableError:
            # A stop interrupts waiting for the broker.
            if not self.view.asked():
                raise

    def abandon(self) -> None:
        """Stop the broker and remove the scratch directory immediately: the process is about to exit."""
        if self._broker:
            self._broker.stop()
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _run(self, stack: ExitStack, config: Config) -> None:
        topic = config.source.topics[0]
        create_topic(config.kafka, topic, stopping=self.view.asked)
        self.report("loading the kernels; the first run compiles them")
        warm_up(config, self.report)
        if self.view.asked():
            return
        stream = ShiftingStream(_SETUP, self.options.change_at, self.options.seed)
        self.view.best = stream.before.ceiling(), stream.after.ceiling()
        feed = Feed(config.kafka, topic, stream, self.options.rate or None, self.options.sequences)
        daemon = self._build_daemon(config, lambda: self._must_end(feed))
        stack.enter_context(feed)
        self.report("learning")
        daemon.run()
        self.report("stopped")
        if feed.error:
            raise feed.error

    def _local_config(self, server: str, directory: Path) -> Config:
        """Return the configuration with the demo's own broker, state directory and port."""
        config = self.config
        return config.model_copy(
            update={
                "kafka": {"bootstrap_servers": server},
                "checkpoint": config.checkpoint.model_copy(update={"directory": str(directory)}),
                "metrics": config.metrics.model_copy(update={"port": self.options.port}),
            }
        )

    def _build_daemon(self, config: Config, stopping: Callable[[], bool]) -> Daemon:
        note = ""
        try:
            daemon = Daemon(config, stopping, [self.summary])
        except TelemetryError:
            metrics = config.metrics.model_copy(update={"port": 0})
            daemon = Daemon(config.model_copy(update={"metrics": metrics}), stopping, [self.summary])
            note = f"  (port {self.options.port} is taken)"
        self.view.status = daemon.status
        self.view.url, self.view.url_note = f"{daemon.url}/metrics", note
        rate = f"{self.options.rate:,.0f} sequences/s" if self.options.rate else "unlimited rate"
        server, topic = config.kafka["bootstrap_servers"], config.source.topics[0]
        self.view.source = f"{rate} → broker {server}, topic {topic} → {config.learner.kind}"
        return daemon

    def _must_end(self, feed: Feed) -> bool:
        options, summary = self.options, self.summary
        ends = (
            self.view.asked()
            or feed.error is not None
            or (options.seconds is not None and summary.seconds >= options.seconds)
            or (options.sequences is not None and summary.sequences + summary.rejected >= options.sequences)
        )
        if ends and not self._is_ending:
            self._is_ending = True
            self.report("stopping: writing the last checkpoint")
        return ends

    def _open_state(self, stack: ExitStack) -> Path:
        kept = self.options.state
        if kept is None:
            scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="streamlearn-demo-"))
            self._scratch = Path(scratch)
            return self._scratch
        if kept.exists() and (not kept.is_dir() or any(kept.iterdir())):
            raise UsageError(
                f"--state {kept} is not empty; the demo's broker keeps its records in memory only, so that "
                "no state can be continued: choose a new directory"
            )
        return kept
