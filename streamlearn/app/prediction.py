"""Labelling files with the weights of a checkpoint."""

from collections.abc import Iterator
from pathlib import Path

from streamlearn.app.evaluation import BATCH, Refuse, batches, open_examples
from streamlearn.app.tagger import open_tagger
from streamlearn.config.learned import from_learned
from streamlearn.errors import CheckpointError, RecordError
from streamlearn.stream.files import Located
from streamlearn.stream.inputs import STDIN


def predictions(checkpoint: Path, path: str, on_refused: Refuse) -> Iterator[tuple[Located, list[str]]]:
    """Give each sequence of a file with its predicted labels, in order.

    Standard input is answered line by line.

    Raises
    ------
    CheckpointError : no checkpoint that verifies, or one that has learned nothing.
    UsageError : the file cannot be read.
    """
    tagger, loaded = open_tagger(checkpoint)
    if not loaded.checkpoint.sequences_seen:
        raise CheckpointError(f"{loaded.path}: nothing was learned yet, so there is no label to predict")
    config = from_learned(loaded.checkpoint.config)
    examples = open_examples(config, [path], on_refused, require_labels=False)
    for batch in batches(examples, 1 if path == STDIN else BATCH):
        encoded = tagger.encode([located.example for located in batch], learn=False)
        refused = dict(encoded.rejected)
        for place, error in refused.items():
            at = batch[place]
            on_refused(RecordError(error.reason, f"{at.path}:{at.line}: {error}"))
        kept = [located for place, located in enumerate(batch) if place not in refused]
        yield from zip(kept, tagger.predict_many(encoded.accepted), strict=True)
