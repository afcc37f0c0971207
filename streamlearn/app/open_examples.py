"""Opening files of sequences as a configuration describes them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from streamlearn.choices import Separator
from streamlearn.config.schema import Config
from streamlearn.corpus.column_layout import ColumnLayout
from streamlearn.corpus.example_reader import ExampleReader
from streamlearn.errors import RecordError
from streamlearn.stream.record_codec import RecordCodec

OnRejected = Callable[[RecordError], None]


@dataclass(frozen=True, slots=True)
class TextFormat:
    """What a file of text does not say about itself.

    Attributes
    ----------
    label_column, separator, header : as in `ColumnLayout`.
    encoding : as in `ExampleReader`.
    """

    label_column: str = "auto"
    separator: Separator = "auto"
    header: bool = False
    encoding: str = "auto"

    def layout(
        self, names: Sequence[str], require_labels: bool = True, max_tokens: int = 65_536
    ) -> ColumnLayout:
        """Return the layout of a column file with these names of columns; none if the file decides."""
        return ColumnLayout(
            tuple(names) or None,
            self.label_column,
            self.separator,
            self.header,
            require_labels=require_labels,
            max_tokens=max_tokens,
        )


def open_examples(
    config: Config,
    paths: Sequence[str],
    on_rejected: OnRejected,
    text_format: TextFormat = TextFormat(),
    *,
    to_predict: bool = False,
) -> ExampleReader:
    """Open files as `config` describes them: column files have its columns, then the label.

    Parameters
    ----------
    to_predict : labels are not required, and records are kept with all their keys.
    """
    limits = config.source
    return ExampleReader(
        paths,
        layout=text_format.layout(config.features.columns, not to_predict, limits.max_tokens),
        codec=RecordCodec(
            "json", not to_predict, limits.max_tokens, limits.max_record_bytes, keep_record=to_predict
        ),
        encoding=text_format.encoding,
        on_refused=on_rejected,
    )
