"""The shape of the configuration: every key, its default and what it means."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from streamlearn.choices import DetectorKind, Scheme, Signal
from streamlearn.config.learner_sections import LearnerConfig, PerceptronConfig
from streamlearn.config.section import FilePath, Location, Names, Section
from streamlearn.config.stream_sections import DeadLettersConfig, SourceConfig


class LabelsConfig(Section):
    """Which labels exist."""

    known: Names = Field(default=[], description="Labels that exist from the start, in this order.")
    map: dict[str, str] = Field(default={}, description="Labels of the data to labels of the model.")
    other: str | None = Field(
        default=None, description="What a label that `map` lacks becomes; itself when not given."
    )
    max: int = Field(
        default=1024, ge=1, le=1 << 16, description="Sequences with a label beyond this number are rejected."
    )
    constrain: Scheme = Field(
        default="none",
        description="Predict no labelling that is invalid in this scheme; iobes is also BMES and BILOU.",
    )


class FeaturesConfig(Section):
    """What is seen of a sequence."""

    columns: Names = Field(default=[], description="Names of the columns; templates may number them from 0.")
    templates: str | None = Field(
        default=None, description="CRF++ templates; none means ready-made features."
    )
    template_file: FilePath | None = Field(
        default=None, description="File with the templates instead, relative to the configuration file."
    )
    max_features: int = Field(
        default=1 << 21,
        ge=1,
        le=1 << 30,
        description="Features of single labels; more are refused and counted.",
    )
    max_edge_features: int = Field(
        default=1 << 20,
        ge=1,
        le=1 << 30,
        description="Features of label pairs; more are refused and counted.",
    )
    names: int = Field(
        default=1 << 20,
        ge=0,
        le=1 << 30,
        description="Distinct strings kept so that `inspect` can name features; 0 keeps none.",
    )
    cache: int = Field(
        default=1 << 17, ge=1, le=1 << 26, description="Distinct values of a column whose ids are remembered."
    )

    @model_validator(mode="after")
    def _columns_for_templates(self) -> "FeaturesConfig":
        if "%x" in (self.templates or "") and not self.columns:
            raise ValueError("templates read columns: name them in features.columns")
        return self


class CheckpointConfig(Section):
    """Where and how often the state is saved."""

    directory: Location = Field(
        default="state",
        description="The state directory, or a URL such as s3://bucket/ner; one daemon at a time holds it.",
    )
    every_seconds: float = Field(default=60.0, gt=0, description="Time between checkpoints at the most.")
    every_records: int | None = Field(
        default=None, ge=1, le=1 << 30, description="Records between checkpoints at the most."
    )
    keep: int = Field(default=3, ge=3, le=10_000, description="Newest generations that are kept.")
    keep_hourly: int = Field(
        default=0,
        ge=0,
        le=100_000,
        description="Hours of which one generation each is kept beside the newest.",
    )
    keep_daily: int = Field(
        default=0,
        ge=0,
        le=100_000,
        description="Days of which one generation each is kept beside the newest.",
    )
    accept_config_change: bool = Field(
        default=False,
        description="Continue a state that was learned with other features, labels or learner.",
    )

    @property
    def local(self) -> Path | None:
        """The state directory; None where the state is in an object store."""
        return None if "://" in self.directory else Path(self.directory)


class DriftConfig(Section):
    """What is watched for changes of the world, and what is done about one."""

    detectors: list[DetectorKind] = Field(
        default=["adwin"], description="Detectors of river that watch each signal; none watch nothing."
    )
    signals: list[Signal] = Field(
        default=["error", "loss", "unknown", "labels"],
        description="What is watched: wrong tokens, loss, unknown features (by token), mix of gold labels.",
    )
    quantum: int = Field(
        default=50, ge=1, le=10_000, description="Sequences that make one value of a signal."
    )
    actions: list[Literal["rewarm", "reset_average", "snapshot"]] = Field(
        default=[],
        description="What is done about a change: new rates (ADF, SGD), a new average, a kept checkpoint.",
    )


class MetricsConfig(Section):
    """The HTTP server with /metrics, /healthz and /readyz."""

    host: str = Field(default="127.0.0.1", description="Address to listen on; 0.0.0.0 for all.")
    port: int = Field(default=9464, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    stall_seconds: float = Field(
        default=120.0, gt=0, description="/healthz fails when the loop has not come round for so long."
    )
    tls_certificate: FilePath | None = Field(
        default=None, description="PEM file with the certificate (and its chain): https instead of http."
    )
    tls_key: FilePath | None = Field(
        default=None, description="PEM file with the certificate's key, if it is another file."
    )
    username: str | None = Field(
        default=None, pattern="^[^:]+$", description="User that must log in (basic auth), except for probes."
    )
    password: str | None = Field(default=None, min_length=1, description="Password of this user.", repr=False)
    password_file: FilePath | None = Field(
        default=None, description="File whose first line is the password instead."
    )

    @model_validator(mode="after")
    def _complete(self) -> "MetricsConfig":
        if (self.username is None) != (self.password is None):
            raise ValueError("username and password belong together: give both, or neither")
        if self.tls_key and not self.tls_certificate:
            raise ValueError("tls_key belongs to a certificate: give tls_certificate")
        return self


class LogConfig(Section):
    """What is written to standard error."""

    format: Literal["text", "json"] = Field(
        default="text", description="One event a line, for people or machines."
    )
    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severe level that is logged."
    )


class Config(Section):
    """Everything that a daemon, an evaluation or a prediction is made of."""

    model: str = Field(default="streamlearn", pattern=r"^[\w.-]{1,64}$", description="Name of the model.")
    source: SourceConfig = SourceConfig()
    dead_letters: DeadLettersConfig = DeadLettersConfig()
    kafka: dict[str, Any] = Field(
        default={"bootstrap_servers": "localhost:9092"}, description="Handed to kafka-python as it is."
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
                "dead_letters.topic is one of source.topics: bad records would go round for ever"
            )
        return self

    @model_validator(mode="after")
    def _file_for_dead_letters(self) -> "Config":
        if self.checkpoint.local is None and self.dead_letters.uses_file and self.dead_letters.file is None:
            raise ValueError(
                "dead_letters.file is wanted, since checkpoint.directory is a URL: a local file, on a disk "
                "that stays, for the bad records that no topic takes"
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _default_learner(cls, values: Any) -> Any:
        learner = values.get("learner") if isinstance(values, dict) else None
        if isinstance(learner, dict) and "kind" not in learner:
            return values | {"learner": {"kind": "perceptron"} | learner}
        return values
