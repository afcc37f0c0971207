"""The demo, wired: an embedded broker, a producer that feeds generated sequences, and the real daemon."""

import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from streamlearn.app.build_tagger import warm_up
from streamlearn.app.run import Daemon
from streamlearn.config.load import load
from streamlearn.config.schema import Config
from streamlearn.demo.broker import EmbeddedBroker
from streamlearn.demo.feed import Feed
from streamlearn.demo.hmm import SETUPS, ChangingWorld
from streamlearn.demo.run_options import Plan
from streamlearn.demo.totals import Totals
from streamlearn.demo.view import Scene
from streamlearn.errors import BrokerUnavailableError, TelemetryError, UsageError
from streamlearn.stream.kafka.producer import create_topic

_NAME = "hmm-demo.yaml"
# The paper's third setup with the vocabulary of a small text, so that learning takes seconds, not an instant.
_SETUP = replace(SETUPS[3], spellings=50)


def load_config(plan: Plan) -> Config:
    """Load the demo's configuration: beside this file once installed, in ``configs/`` before."""
    packaged = Path(__file__).with_name(_NAME)
    path = packaged if packaged.exists() else Path(__file__).parents[2] / "configs" / _NAME
    return load(path, plan.overrides)


class Demo:
    """One run of the demo.

    Parameters
    ----------
    tally, scene : filled in as things happen.
    say : told of each step in words, before it is taken.
    asked : tells whether a stop was asked for.
    """

    def __init__(
        self,
        plan: Plan,
        config: Config,
        tally: Totals,
        scene: Scene,
        say: Callable[[str], None],
        asked: Callable[[], bool],
    ) -> None:
        self._plan = plan
        self._config = config
        self._tally = tally
        self._scene = scene
        self._say = say
        self._asked = asked
        self._is_ending = False
        self._broker: EmbeddedBroker | None = None
        self._scrap: Path | None = None

    def run(self) -> None:
        """Run until the plan is fulfilled or a stop is asked for; leave nothing behind but `plan.state`.

        Raises
        ------
        StreamlearnError : with the exit code that fits.
        """
        try:
            with ExitStack() as stack:
                directory = self._open_state(stack)
                self._say("starting the broker")
                self._broker = stack.enter_context(EmbeddedBroker())
                self._run(stack, self._own(self._broker.server, directory))
        except BrokerUnavailableError:
            # Waiting for the broker is cut short by a stop.
            if not self._asked():
                raise

    def abandon(self) -> None:
        """End the broker and remove the scratch directory: the process is about to end."""
        if self._broker:
            self._broker.stop()
        if self._scrap:
            shutil.rmtree(self._scrap, ignore_errors=True)

    def _run(self, stack: ExitStack, config: Config) -> None:
        topic = config.source.topics[0]
        create_topic(config.kafka, topic, stopping=self._asked)
        self._say("loading the kernels; the first time they are compiled")
        warm_up(config, self._say)
        if self._asked():
            return
        world = ChangingWorld(_SETUP, self._plan.change_at, self._plan.seed)
        self._scene.best = world.before.ceiling(), world.after.ceiling()
        feed = Feed(config.kafka, topic, world, self._plan.rate or None, self._plan.sequences)
        daemon = self._build_daemon(config, lambda: self._must_end(feed))
        stack.enter_context(feed)
        self._say("learning")
        daemon.run()
        self._say("stopped")
        if feed.error:
            raise feed.error

    def _own(self, server: str, directory: Path) -> Config:
        """Give the configuration with what is the demo's own in place of what a file or variable says."""
        config = self._config
        return config.model_copy(
            update={
                "kafka": {"bootstrap_servers": server},
                "checkpoint": config.checkpoint.model_copy(update={"directory": str(directory)}),
                "metrics": config.metrics.model_copy(update={"port": self._plan.port}),
            }
        )

    def _build_daemon(self, config: Config, stopping: Callable[[], bool]) -> Daemon:
        note = ""
        try:
            daemon = Daemon(config, stopping, [self._tally])
        except TelemetryError:
            metrics = config.metrics.model_copy(update={"port": 0})
            daemon = Daemon(config.model_copy(update={"metrics": metrics}), stopping, [self._tally])
            note = f"  (port {self._plan.port} is taken)"
        self._scene.url = f"{daemon.url}/metrics"
        self._scene.url_note = note
        rate = f"{self._plan.rate:,.0f} sequences/s" if self._plan.rate else "as fast as it goes"
        server, topic = config.kafka["bootstrap_servers"], config.source.topics[0]
        self._scene.about = f"{rate} → broker {server}, topic {topic} → {config.learner.kind}"
        return daemon

    def _must_end(self, feed: Feed) -> bool:
        plan, tally = self._plan, self._tally
        ends = (
            self._asked()
            or feed.error is not None
            or (plan.seconds is not None and tally.seconds >= plan.seconds)
            or (plan.sequences is not None and tally.sequences + tally.rejected >= plan.sequences)
        )
        if ends and not self._is_ending:
            self._is_ending = True
            self._say("stopping: the last checkpoint")
        return ends

    def _open_state(self, stack: ExitStack) -> Path:
        kept = self._plan.state
        if kept is None:
            scrap = stack.enter_context(tempfile.TemporaryDirectory(prefix="streamlearn-demo-"))
            self._scrap = Path(scrap)
            return self._scrap
        if kept.exists() and (not kept.is_dir() or any(kept.iterdir())):
            raise UsageError(
                f"--state {kept} is not empty; the demo's broker forgets its records, so that no state can "
                "be continued: give a new directory"
            )
        return kept
