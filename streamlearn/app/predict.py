"""Labelling files with the model of a checkpoint."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from streamlearn.app.build_tagger import open_state
from streamlearn.app.evaluate import BATCH, OnRejected, batches, open_examples, report_rejected, with_place
from streamlearn.app.label_findings import require_valid_labellings
from streamlearn.choices import Scheme
from streamlearn.config.learned_part import from_learned
from streamlearn.corpus.example_reader import Located
from streamlearn.corpus.input_files import STDIN
from streamlearn.data import Example, Prediction
from streamlearn.errors import CheckpointError, Reason, RecordError, UsageError
from streamlearn.learners.tagger import Tagger


@dataclass(frozen=True, slots=True)
class PredictionOptions:
    """What to predict besides the labels.

    Attributes
    ----------
    marginals : the probability of each label and of the whole labelling.
    k_best : number of best labellings; 0 for none.
    constrain : the scheme in which labellings must be valid; None for that of the model.
    """

    marginals: bool = False
    k_best: int = 0
    constrain: Scheme | None = None


def predictions(
    checkpoint: str,
    path: str,
    wanted: PredictionOptions,
    on_rejected: OnRejected,
    warn: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[Located, Prediction]]:
    """Yield each sequence of a file with its prediction, in order.

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
    if wanted.marginals and not tagger.is_probabilistic:
        raise UsageError(
            f"--marginals: {loaded.where} was trained by a {config.learner.kind}, whose scores are not "
            "probabilities; train with learner.kind adf, sgd or adagrad"
        )
    examples = open_examples(config, [path], on_rejected, require_labels=False)
    for batch in batches(examples, 1 if path == STDIN else BATCH):
        encoded = tagger.encode([located.example for located in batch], learn=False)
        report_rejected(batch, encoded, on_rejected)
        rejected = dict(encoded.rejected)
        kept = [located for place, located in enumerate(batch) if place not in rejected]
        if kept:
            found = tagger.explain_batch(encoded.batch, marginals=wanted.marginals, k_best=wanted.k_best)
            for located, prediction in zip(kept, found, strict=True):
                if prediction is None:
                    on_rejected(with_place(located, _no_labelling(tagger, located.example)))
                else:
                    yield located, prediction


def _no_labelling(tagger: Tagger, example: Example) -> RecordError:
    message = f"no labelling of {len(example)} tokens with the known labels is valid"
    return RecordError(Reason.LENGTH, f"{message} {tagger.constraint.upper()}; --constrain none predicts one")
