"""From a checkpoint back to what learns: a state that verifies, but is of another form, is refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from streamlearn.checkpoint.reading import Loaded
from streamlearn.errors import CheckpointError
from streamlearn.learners.tagger import Tagger
from streamlearn.monitor.progressive import Progressive


def restore_tagger(tagger: Tagger, loaded: Loaded) -> None:
    """Continue with the model of a checkpoint.

    Raises
    ------
    CheckpointError : it is not the state of such a tagger, though its checksum is right.
    """
    with understood(loaded.where):
        _require_form(loaded.checkpoint.model, tagger.view(), "model")
        tagger.restore(loaded.checkpoint.model)
        # Whoever cannot tell its own figures has arrays of other lengths than it thinks.
        tagger.gauges()


def restore_scores(progressive: Progressive, loaded: Loaded, tagger: Tagger) -> None:
    """Continue with the progressive scores of a checkpoint, whose model the tagger has.

    Raises
    ------
    CheckpointError : it holds no such scores, though its checksum is right.
    """
    with understood(loaded.where):
        _require_form(loaded.checkpoint.progressive, progressive.state(), "progressive")
        progressive.restore(loaded.checkpoint.progressive, tagger.labels)
        progressive.scores()


@contextmanager
def understood(where: str) -> Iterator[None]:
    """Refuse a checkpoint that its reader stumbles over.

    No bad disk makes such a file, since its checksum is right, but a person who means harm may.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{where}: its checksum is right, its state is of another form: {error!r:.200}; restore another"
        ) from error


def _require_form(state: Any, wanted: Any, where: str) -> None:
    """Refuse values of other types than in a state of before the first sequence; kernels trust them."""
    if type(state) is not type(wanted):
        raise TypeError(f"{where} is {type(state).__name__}, wanted {type(wanted).__name__}")
    if isinstance(state, np.ndarray):
        got, form = (state.dtype.str, state.ndim), (wanted.dtype.str, wanted.ndim)
        if got != form:
            raise TypeError(f"{where} is an array of {got}, wanted {form}")
    elif isinstance(state, dict):
        # Keys that are missing may be younger than the state: its reader knows.
        for key in state.keys() & wanted.keys():
            _require_form(state[key], wanted[key], f"{where}/{key}")
