"""Settings that a running daemon takes over from a changed configuration, as SIGHUP asks for."""

import logging
from collections.abc import Callable

from streamlearn.app.drift_watch import build_remedies
from streamlearn.checkpoint.schedule import CheckpointSchedule
from streamlearn.config.changed import changed
from streamlearn.config.schema import Config
from streamlearn.daemon.learning_state import LearningState
from streamlearn.events import Configured
from streamlearn.telemetry.logs import configure, emit

_logger = logging.getLogger(__name__)

LIVE = {
    "log": ("format", "level"),
    "checkpoint": ("every_seconds", "every_records"),
    "drift": ("actions",),
}
"""The keys, by section, that change without a restart."""


class LiveSettings:
    """The configuration of a running daemon, and what follows it.

    Parameters
    ----------
    config : as of the start.
    state : whose drift detection follows `drift.actions`.
    schedule : follows `checkpoint.every_seconds` and `checkpoint.every_records`.
    observe : called with the settings that took effect.
    """

    def __init__(
        self,
        config: Config,
        state: LearningState,
        schedule: CheckpointSchedule,
        observe: Callable[[Configured], None],
    ) -> None:
        self._config = config
        self._state = state
        self._schedule = schedule
        self._observe = observe

    def change(self, wanted: Config) -> None:
        """Take over what can change now, and log which changes need a restart.

        Raises
        ------
        ConfigError : the learner does not support one of drift.actions; nothing has changed.
        """
        live = [f"{section}.{key}" for section, keys in LIVE.items() for key in keys]
        keys = changed(self._config, wanted)
        config = self._config.model_copy(update={name: self._section(name, wanted) for name in LIVE})
        remedies = build_remedies(config, self._state.tagger)
        waiting = [key for key in keys if key not in live]
        # Before the level changes, which may hide it.
        emit(
            _logger,
            logging.WARNING if waiting else logging.INFO,
            "reloaded",
            applied=", ".join(key for key in keys if key in live) or "nothing",
            needs_restart=", ".join(waiting) or "nothing",
        )
        configure(config.log.format, config.log.level)
        self._schedule.change(config.checkpoint.every_seconds, config.checkpoint.every_records)
        self._state.watch.react(config.drift.actions, remedies)
        self._config = config
        self._observe(Configured(config.checkpoint.every_seconds))

    def _section(self, name: str, wanted: Config) -> object:
        values = {key: getattr(getattr(wanted, name), key) for key in LIVE[name]}
        return getattr(self._config, name).model_copy(update=values)
