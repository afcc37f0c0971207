"""What watches learning for changes of the world, from a configuration."""

from streamlearn.config.schema import Config
from streamlearn.errors import ConfigError
from streamlearn.learners.tagger import Tagger
from streamlearn.monitor.drift import DriftWatch

# What the daemon does itself, whatever the learner can do.
SNAPSHOT = "snapshot"


def build_watch(config: Config, tagger: Tagger) -> DriftWatch:
    """Make the watch over what `tagger` learns.

    Raises
    ------
    ConfigError : the learner cannot do what is to be done.
    """
    drift, possible = config.drift, tagger.remedies()
    wanted = [action for action in drift.actions if action != SNAPSHOT]
    for action in wanted:
        if action not in possible:
            offered = ", ".join([*possible, SNAPSHOT])
            raise ConfigError(
                f"drift.actions: {config.learner.kind} as set up cannot {action}; use {offered}"
            )
    remedies = [possible[action] for action in wanted]
    return DriftWatch(drift.detectors, drift.signals, drift.quantum, drift.actions, remedies)
