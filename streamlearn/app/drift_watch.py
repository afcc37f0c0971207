"""Drift detection, from a configuration."""

from collections.abc import Callable

from streamlearn.config.schema import Config
from streamlearn.errors import ConfigError
from streamlearn.learners.tagger import Tagger
from streamlearn.monitor.drift import DriftWatch

# The action that the daemon takes itself, with any learner.
SNAPSHOT = "snapshot"


def build_watch(config: Config, tagger: Tagger) -> DriftWatch:
    """Return the drift detection over what `tagger` learns.

    Raises
    ------
    ConfigError : the learner does not support one of drift.actions.
    """
    drift, remedies = config.drift, build_remedies(config, tagger)
    return DriftWatch(drift.detectors, drift.signals, drift.quantum, drift.actions, remedies)


def build_remedies(config: Config, tagger: Tagger) -> list[Callable[[], None]]:
    """Return what changes the tagger on drift, by drift.actions.

    Raises
    ------
    ConfigError : the learner does not support one of them.
    """
    drift, possible = config.drift, tagger.remedies()
    wanted = [action for action in drift.actions if action != SNAPSHOT]
    for action in wanted:
        if action not in possible:
            offered = ", ".join([*possible, SNAPSHOT])
            raise ConfigError(
                f"drift.actions: {config.learner.kind} with these settings cannot {action}; it can {offered}"
            )
    return [possible[action] for action in wanted]
