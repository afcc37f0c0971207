"""Labelling files with the weights of a checkpoint."""

from collections.abc import Iterator
from dataclasses import dataclass

from streamlearn.app.build_tagger import open_tagger
from streamlearn.app.evaluate import BATCH, Refuse, batches, open_examples, refuse
from streamlearn.choices import Scheme
from streamlearn.config.learned_part import from_learned
from streamlearn.corpus.example_reader import Located
from streamlearn.corpus.input_files import STDIN
from streamlearn.data import Prediction
from streamlearn.errors import CheckpointError, UsageError


@dataclass(frozen=True, slots=True)
class PredictionOptions:
    """What is asked of a prediction beside the labels.

    Attributes
    ----------
    marginals : the probability of each label and of the labelling.
    k_best : so many of the best labellings; 0 for none.
    constrain : the scheme that labellings must be valid in; None for what the model was configured with.
    """

    marginals: bool = False
    k_best: int = 0
    constrain: Scheme | None = None


def predictions(
    checkpoint: str, path: str, wanted: PredictionOptions, on_refused: Refuse
) -> Iterator[tuple[Located, Prediction]]:
    """Give each sequence of a file with what is predicted, in order.

    Standard input is answered line by line.

    Raises
    ------
    CheckpointError : no checkpoint that verifies, or one that has learned nothing.
    UsageError : the file cannot be read, or the learner knows no probabilities.
    """
    tagger, loaded = open_tagger(checkpoint, wanted.constrain)
    if not loaded.checkpoint.sequences_seen:
        raise CheckpointError(f"{loaded.where}: nothing was learned yet, so there is no label to predict")
    config = from_learned(loaded.checkpoint.config)
    if wanted.marginals and not tagger.is_probabilistic:
        raise UsageError(
            f"--marginals: {loaded.where} was learned by a {config.learner.kind}, whose scores are no "
            "probabilities; learn with adf, sgd or adagrad (learner.kind)"
        )
    examples = open_examples(config, [path], on_refused, require_labels=False)
    for batch in batches(examples, 1 if path == STDIN else BATCH):
        encoded = tagger.encode([located.example for located in batch], learn=False)
        refuse(batch, encoded, on_refused)
        refused = dict(encoded.rejected)
        kept = [located for place, located in enumerate(batch) if place not in refused]
        if kept:
            found = tagger.explain_batch(encoded.batch, marginals=wanted.marginals, k_best=wanted.k_best)
            yield from zip(kept, found, strict=True)
