"""Labelling files with the model of a checkpoint."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from streamlearn.app.build_tagger import open_state
from streamlearn.app.evaluate import BATCH, batches, with_place
from streamlearn.app.label_findings import require_valid_labellings
from streamlearn.app.open_examples import TextFormat, open_examples
from streamlearn.choices import Form, MarginalsOf, Scheme
from streamlearn.config.learned_part import from_learned
from streamlearn.corpus.example_reader import Located
from streamlearn.corpus.input_files import STDIN
from streamlearn.corpus.prediction_formats import to_columns, to_json_line, to_rejected_line
from streamlearn.data import Prediction
from streamlearn.errors import CheckpointError, Reason, RecordError, UsageError
from streamlearn.features.batches import PIECE
from streamlearn.learners.tagger import Tagger


@dataclass(frozen=True, slots=True)
class PredictionOptions:
    """What to predict besides the labels.

    Attributes
    ----------
    marginals : the probability of each predicted label and of the whole labelling, or also of every label.
    k_best : number of best labellings; 0 for none.
    constrain : the scheme in which labellings must be valid; None for that of the model.
    """

    marginals: MarginalsOf = "none"
    k_best: int = 0
    constrain: Scheme | None = None


class Answer(NamedTuple):
    """The prediction for one sequence of a file, or why there is none.

    Attributes
    ----------
    located : the sequence and its place; None if it could not be read.
    """

    located: Located | None
    prediction: Prediction | RecordError


def predictions(
    checkpoint: str,
    path: str,
    wanted: PredictionOptions,
    text_format: TextFormat = TextFormat(),  # noqa: B008 - it is frozen
    warn: Callable[[str], None] = lambda _: None,
) -> Iterator[Answer]:
    """Yield an answer to each sequence of a file, in order; messages of errors begin with file and line.

    Standard input is answered line by line. A sequence for which the known labels allow no valid labelling is
    rejected.

    Parameters
    ----------
    warn : called with what cannot be predicted.

    Raises
    ------
    ConfigError : the constraint allows no labelling at all.
    CheckpointError : there is no checkpoint that verifies, or it has learned nothing.
    UsageError : the file cannot be read, or the learner has no probabilities.
    """
    state, loaded = open_state(checkpoint, wanted.constrain)
    if not state.sequences_seen:
        raise CheckpointError(f"{loaded.where}: has learned no sequence yet, so it cannot predict labels")
    tagger = state.tagger
    missing = require_valid_labellings(tagger)
    if missing:
        warn(missing)
    config = from_learned(loaded.checkpoint.config)
    if wanted.marginals != "none" and not tagger.is_probabilistic:
        raise UsageError(
            f"--marginals: {loaded.where} was trained by a {config.learner.kind}, whose scores are not "
            "probabilities; train with learner.kind adf, sgd or adagrad"
        )
    reader = open_examples(config, [path], lambda _: None, text_format, to_predict=True)
    # The probabilities of all labels take much memory.
    size = 1 if path == STDIN else PIECE if wanted.marginals == "all" else BATCH
    for entries in batches(reader.entries(), size):
        yield from _answers(tagger, entries, wanted)


def _answers(
    tagger: Tagger, entries: Sequence[Located | RecordError], wanted: PredictionOptions
) -> Iterator[Answer]:
    located = [entry for entry in entries if isinstance(entry, Located)]
    encoded = tagger.encode([one.example for one in located], learn=False)
    rejected = {id(located[place]): with_place(located[place], error) for place, error in encoded.rejected}
    found: Iterator[Prediction | None] = iter(())
    if encoded.accepted:
        found = iter(tagger.explain_batch(encoded.batch, marginals=wanted.marginals, k_best=wanted.k_best))
    for entry in entries:
        if isinstance(entry, RecordError):
            yield Answer(None, entry)
        else:
            yield Answer(entry, rejected.get(id(entry)) or next(found) or _no_labelling(tagger, entry))


def _no_labelling(tagger: Tagger, located: Located) -> RecordError:
    message = f"no labelling of {len(located.example)} tokens with the known labels is valid"
    error = RecordError(
        Reason.LENGTH, f"{message} {tagger.constraint.upper()}; --constrain none predicts one"
    )
    return with_place(located, error)


def as_text(answer: Answer, form: Form) -> tuple[str, RecordError | None]:
    """Return an answer as it is written, and why its sequence is rejected, if it is.

    A rejected sequence is one line of JSON, and nothing in a column file.
    """
    located, found = answer
    example = located.example if located else None
    if located and isinstance(found, Prediction):
        try:
            write = to_json_line if form == "json" else to_columns
            return write(located.example, found), None
        except RecordError as error:
            # What cannot be written as it is cannot be repeated either.
            return as_text(Answer(None, with_place(located, error)), form)
    if isinstance(found, Prediction):
        raise TypeError("a prediction belongs to a sequence")
    return to_rejected_line(found, example) if form == "json" else "", found
