"""The configuration schema: every key, its default and what it means."""

from pathlib import Path
from typing import Any, Literal

from pydantic import ByteSize, Field, model_validator

from streamlearn.choices import (
    DataScheme,
    DetectorKind,
    LogFormat,
    LogLevel,
    ModelScheme,
    Scheme,
    Signal,
)
from streamlearn.config.learner_sections import LearnerConfig, PerceptronConfig
from streamlearn.config.section import Count, FilePath, Location, Names, Section
from streamlearn.config.stream_sections import DeadLettersConfig, SourceConfig


class LabelSchemeConfig(Section):
    """How spans are marked: labels are converted for the model, and predictions back."""

    data: DataScheme | None = Field(
        default=None,
        description="Scheme of the labels in the records and in predictions; auto: that of most sequences.",
    )
    model: ModelScheme | None = Field(
        default=None,
        description="Scheme that labels are converted to before learning; bio if only `data` is set.",
    )

    @model_validator(mode="before")
    @classmethod
    def _both(cls, values: Any) -> Any:
        """Fill in the other key, so that a checkpoint stores what was meant."""
        if not isinstance(values, dict) or (values.get("data"), values.get("model")) == (None, None):
            return values
        return {**values, "data": values.get("data") or "auto", "model": values.get("model") or "bio"}


class LabelsConfig(Section):
    """The label set."""

    known: Names = Field(
        default=[], description="Labels known from the start, in this order; others are added as they occur."
    )
    map: dict[str, str] = Field(default={}, description="Map labels of the records to labels of the model.")
    other: str | None = Field(
        default=None,
        description="Label for every label that is not in `map`. By default such labels stay as they are.",
    )
    max: int = Field(
        default=1024,
        ge=1,
        le=1 << 16,
        description="Maximum number of distinct labels; sequences that would add another one are rejected.",
    )
    scheme: LabelSchemeConfig = LabelSchemeConfig()
    constrain: Scheme | None = Field(
        default=None,
        description="Predict only labellings valid in this scheme; by default `scheme.model`, if any.",
    )

    @property
    def constraint(self) -> Scheme:
        """The scheme in which predictions must be valid."""
        return self.constrain or self.scheme.model or "none"

    @model_validator(mode="after")
    def _one_scheme(self) -> "LabelsConfig":
        if self.scheme.model and self.constraint not in ("none", self.scheme.model):
            raise ValueError(
                f"constrain is {self.constrain}, but the model learns {self.scheme.model}: leave out "
                "labels.constrain, which follows labels.scheme.model"
            )
        return self


class FeaturesConfig(Section):
    """Which features are extracted from a sequence."""

    columns: Names = Field(
        default=[], description="Names of the columns that templates refer to, by name or by number from 0."
    )
    templates: str | None = Field(
        default=None, description="CRF++ feature templates. Without them, records carry ready-made features."
    )
    template_file: FilePath | None = Field(
        default=None,
        description="File with the templates, relative to the configuration file; instead of `templates`.",
    )
    max_features: Count = Field(
        default=1 << 21,
        description="Maximum number of features on single labels (unigram); further ones are ignored and "
        "counted.",
    )
    max_edge_features: Count = Field(
        default=1 << 20,
        description="Maximum number of features on label pairs (bigram); further ones are ignored and "
        "counted.",
    )
    memory: ByteSize = Field(
        default=ByteSize(4 << 30),
        ge=1 << 20,
        description="Memory for weights; new features without room in it are ignored and counted.",
    )
    names: int = Field(
        default=1 << 20,
        ge=0,
        le=1 << 30,
        description="Distinct strings kept so that `inspect` can show feature names; 0 keeps none.",
    )
    cache: int = Field(
        default=1 << 17, ge=1, le=1 << 26, description="Distinct values cached per column, for speed only."
    )

    @model_validator(mode="after")
    def _columns_for_templates(self) -> "FeaturesConfig":
        if "%" in (self.templates or "") and not self.columns:
            raise ValueError("templates refer to columns: list their names in features.columns")
        return self


class CheckpointConfig(Section):
    """Where and how often checkpoints are written, and how many are kept."""

    directory: Location = Field(
        default="state",
        description="State directory, or a URL such as s3://bucket/ner. Only one daemon at a time can hold "
        "it.",
    )
    every_seconds: float = Field(
        default=60.0,
        gt=0,
        description="Write a checkpoint at least this often, in seconds, while records arrive.",
    )
    every_records: Count | None = Field(
        default=None,
        description="Also write a checkpoint after this many records. Off by default.",
    )
    keep: int = Field(default=3, ge=3, le=10_000, description="Keep the newest N checkpoints.")
    keep_hourly: int = Field(
        default=0, ge=0, le=100_000, description="Also keep one checkpoint per hour for this many hours."
    )
    keep_daily: int = Field(
        default=0, ge=0, le=100_000, description="Also keep one checkpoint per day for this many days."
    )
    accept_config_change: bool = Field(
        default=False,
        description="Continue from a checkpoint whose features, labels or learner were configured "
        "differently.",
    )

    @property
    def local(self) -> Path | None:
        """The state directory; None if the state is in an object store."""
        return None if "://" in self.directory else Path(self.directory)


class DriftConfig(Section):
    """Concept drift: which signals are monitored, by which detectors, and what to do on drift."""

    detectors: list[DetectorKind] = Field(
        default=["adwin"],
        description="Drift detectors (of river) that monitor each signal; an empty list turns drift "
        "detection off.",
    )
    signals: list[Signal] = Field(
        default=["error", "loss", "unknown", "labels"],
        description="Signals: token error rate, loss, unknown features per token, distribution of gold "
        "labels.",
    )
    quantum: int = Field(
        default=50, ge=1, le=10_000, description="Sequences averaged into one value of a signal."
    )
    actions: list[Literal["rewarm", "reset_average", "snapshot"]] = Field(
        default=[],
        description="On drift: reset learning rates (rewarm; ADF, SGD), restart the average, keep a "
        "checkpoint (snapshot).",
    )


class MetricsConfig(Section):
    """The HTTP server for /metrics, /healthz, /readyz and the status page."""

    host: str = Field(
        default="127.0.0.1", description="Address to listen on; 0.0.0.0 listens on all interfaces."
    )
    port: int = Field(default=9464, ge=0, le=65535, description="Port to listen on; 0 picks a free port.")
    stall_seconds: float = Field(
        default=120.0,
        gt=0,
        description="/healthz fails when the main loop has made no progress for this many seconds.",
    )
    tls_certificate: FilePath | None = Field(
        default=None, description="PEM file with the certificate and its chain; serves HTTPS instead of HTTP."
    )
    tls_key: FilePath | None = Field(
        default=None, description="PEM file with the private key, if it is not in the certificate's file."
    )
    username: str | None = Field(
        default=None,
        pattern="^[^:]+$",
        description="User name required for basic authentication; /healthz and /readyz stay open.",
    )
    password: str | None = Field(
        default=None, min_length=1, description="Password for basic authentication.", repr=False
    )
    password_file: FilePath | None = Field(
        default=None, description="File whose first line is the password; instead of `password`."
    )

    @model_validator(mode="after")
    def _complete(self) -> "MetricsConfig":
        if (self.username is None) != (self.password is None):
            raise ValueError("username and password belong together: set both or neither")
        if self.tls_key and not self.tls_certificate:
            raise ValueError("tls_key needs a certificate: set tls_certificate, too")
        return self


class LogConfig(Section):
    """Logging to standard error."""

    format: LogFormat = Field(
        default="text", description="One event per line: text for people, json for log collectors."
    )
    level: LogLevel = Field(default="info", description="Lowest level that is logged.")


class Config(Section):
    """The complete configuration of a daemon, an evaluation or a prediction."""

    model: str = Field(
        default="streamlearn",
        pattern=r"^[\w.-]{1,64}$",
        description="Name of the model, in metrics, checkpoints and dead letters.",
    )
    source: SourceConfig = SourceConfig()
    dead_letters: DeadLettersConfig = DeadLettersConfig()
    kafka: dict[str, Any] = Field(
        default={"bootstrap_servers": "localhost:9092"},
        description="Client settings of kafka-python, passed through unchanged.",
    )
    features: FeaturesConfig = FeaturesConfig()
    labels: LabelsConfig = LabelsConfig()
    learner: LearnerConfig = PerceptronConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    drift: DriftConfig = DriftConfig()
    metrics: MetricsConfig = MetricsConfig()
    log: LogConfig = LogConfig()

    @model_validator(mode="after")
    def _no_circle(self) -> "Config":
        if self.dead_letters.topic in self.source.topics:
            raise ValueError(
                "dead_letters.topic is one of source.topics: bad records would be read again and again; "
                "choose another topic"
            )
        return self

    @model_validator(mode="after")
    def _file_for_dead_letters(self) -> "Config":
        if self.checkpoint.local is None and self.dead_letters.uses_file and self.dead_letters.file is None:
            raise ValueError(
                "checkpoint.directory is a URL, so dead_letters.file must be set: a local file on a "
                "persistent disk for bad records that cannot be written to a topic"
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _default_learner(cls, values: Any) -> Any:
        learner = values.get("learner") if isinstance(values, dict) else None
        if isinstance(learner, dict) and "kind" not in learner:
            return values | {"learner": {"kind": "perceptron"} | learner}
        return values
