"""The shape of the configuration: every key, its default and what it means."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from streamlearn.config.section import Names, Section
from streamlearn.config.source import DeadLettersConfig, SourceConfig


class LabelsConfig(Section):
    """Which labels exist."""

    known: Names = Field(default=[], description="Labels that exist from the start, in this order.")
    map: dict[str, str] = Field(default={}, description="Labels of the data to labels of the model.")
    other: str | None = Field(
        default=None, description="What a label that `map` lacks becomes; itself when not given."
    )
    max: int = Field(
        default=1024, ge=1, description="Sequences with a label beyond this number are rejected."
    )
    constrain: Literal["none", "bio", "iobes"] = Field(
        default="none",
        description="Predict no labelling that is invalid in this scheme; iobes is also BMES and BILOU.",
    )


class FeaturesConfig(Section):
    """What is seen of a sequence."""

    columns: Names = Field(default=[], description="Names of the columns; templates may number them from 0.")
    templates: str | None = Field(
        default=None, description="CRF++ templates; none means ready-made features."
    )
    template_file: Path | None = Field(
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
        description="Distinct strings kept so that `inspect` can name features; 0 keeps none.",
    )
    cache: int = Field(
        default=1 << 17, ge=1, description="Distinct values of a column whose ids are remembered."
    )

    @model_validator(mode="after")
    def _columns_for_templates(self) -> "FeaturesConfig":
        if (self.templates or self.template_file) and not self.columns:
            raise ValueError("templates read columns: name them in features.columns")
        return self


class _Learner(Section):
    replay_tokens: int = Field(
        default=0, ge=0, description="Tokens of the recent past kept for second looks; 0 for none."
    )
    replay_looks: int = Field(
        default=1, ge=1, le=16, description="Recent sequences looked at again after each new one."
    )


Average = Annotated[
    Literal["none", "all", "exponential"],
    Field(description="Predict with the last weights, the average of all, or a fading one."),
]
HalfLife = Annotated[float, Field(gt=0, description="Half-life of the exponential average, in sequences.")]


class PerceptronConfig(_Learner):
    """Collins' structured perceptron."""

    kind: Literal["perceptron"] = "perceptron"
    average: Average = "all"
    half_life: HalfLife = 10_000.0


class SwvpConfig(_Learner):
    """Structured weighted violations perceptron (Dror & Reichart 2016)."""

    kind: Literal["swvp"] = "swvp"
    substructures: Literal["single", "whole", "blocks", "all", "spans"] = Field(
        default="blocks",
        description="JJ: wrong positions one by one, as a whole, in runs, in all sets; or the wrong spans.",
    )
    max_errors: int = Field(
        default=6,
        ge=1,
        le=10,
        description="All sets are taken of so many wrong positions at the most, else blocks.",
    )
    gamma: Literal["wm", "wmr"] = Field(
        default="wm", description="Weigh by the margin, or by the rank of the margin."
    )
    beta: float = Field(default=1.0, ge=0, le=100, description="β: power of the margin or its rank.")
    violations: Literal["aggressive", "balanced"] = Field(
        default="aggressive", description="Update with violations only, or with all mixed assignments."
    )
    condition: Literal["enforced", "published"] = Field(
        default="enforced",
        description="Whether the balanced form meets condition (2), or not, as it was published.",
    )
    average: Average = "all"
    half_life: HalfLife = 10_000.0


class AdfConfig(_Learner):
    """Conditional random field trained by ADF (Sun, Li, Wang & Li 2014)."""

    kind: Literal["adf"] = "adf"
    rate: float = Field(default=0.1, gt=0, description="c: the rate of a new feature.")
    keep_rare: float = Field(
        default=0.995, gt=0, le=1, description="α: kept of a feature's rate after a window without it."
    )
    keep_frequent: float = Field(
        default=0.6, gt=0, le=1, description="β: kept of a feature's rate if every sequence had it."
    )
    window: int = Field(default=200, ge=1, description="Sequences in the first window.")
    growth: float = Field(default=1.0, ge=1, le=10, description="Factor from each window to the next.")
    min_rate: float = Field(default=0.0005, ge=0, description="No rate falls below it: learning never ends.")
    sigma: float | None = Field(
        default=5.0, gt=0, description="σ of the Gaussian prior of the weights; null for no L2 term."
    )
    late_start: bool = Field(
        default=False,
        description="Give new features the rate they would have if known from the start.",
    )
    average: Average = "none"
    half_life: HalfLife = 10_000.0


class SgdConfig(_Learner):
    """Conditional random field trained by stochastic gradient descent."""

    kind: Literal["sgd"] = "sgd"
    rate: float = Field(default=0.1, gt=0, description="The rate of the first sequences.")
    decay: float = Field(
        default=0.95, gt=0, le=1, description="Factor of the rate after every `per` sequences."
    )
    per: int = Field(default=200, ge=1, description="Sequences between two changes of the rate.")
    min_rate: float = Field(
        default=0.0005, ge=0, description="The rate does not fall below it: learning never ends."
    )
    sigma: float | None = Field(
        default=5.0, gt=0, description="σ of the Gaussian prior of the weights; null for no L2 term."
    )
    average: Average = "none"
    half_life: HalfLife = 10_000.0


class AdaGradConfig(_Learner):
    """Conditional random field trained by AdaGrad (Duchi, Hazan & Singer 2011)."""

    kind: Literal["adagrad"] = "adagrad"
    rate: float = Field(default=0.1, gt=0, description="Rate of a weight whose squared gradients sum to 1.")
    floor: float = Field(default=0.0, ge=0, description="What the sum of squared gradients begins with.")
    sigma: float | None = Field(
        default=5.0, gt=0, description="σ of the Gaussian prior of the weights; null for no L2 term."
    )


LearnerConfig = Annotated[
    PerceptronConfig | SwvpConfig | AdfConfig | SgdConfig | AdaGradConfig, Field(discriminator="kind")
]


class CheckpointConfig(Section):
    """Where and how often the state is saved."""

    directory: Path = Field(
        default=Path("state"), description="The state directory; one daemon at a time holds it."
    )
    every_seconds: float = Field(default=60.0, gt=0, description="Time between checkpoints at the most.")
    every_records: int | None = Field(
        default=None, ge=1, description="Records between checkpoints at the most."
    )
    keep: int = Field(default=3, ge=3, description="Newest generations that are kept.")
    keep_hourly: int = Field(
        default=0, ge=0, description="Hours of which one generation each is kept beside the newest."
    )
    keep_daily: int = Field(
        default=0, ge=0, description="Days of which one generation each is kept beside the newest."
    )
    accept_config_change: bool = Field(
        default=False,
        description="Continue a state that was learned with other features, labels or learner.",
    )


class MetricsConfig(Section):
    """The HTTP server with /metrics, /healthz and /readyz."""

    host: str = Field(default="127.0.0.1", description="Address to listen on; 0.0.0.0 for all.")
    port: int = Field(default=9464, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    stall_seconds: float = Field(
        default=120.0, gt=0, description="/healthz fails when the loop has not come round for so long."
    )


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
    metrics: MetricsConfig = MetricsConfig()
    log: LogConfig = LogConfig()

    @model_validator(mode="after")
    def _no_circle(self) -> "Config":
        if self.dead_letters.topic in self.source.topics:
            raise ValueError(
                "dead_letters.topic is one of source.topics: bad records would go round for ever"
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _default_learner(cls, values: Any) -> Any:
        learner = values.get("learner") if isinstance(values, dict) else None
        if isinstance(learner, dict) and "kind" not in learner:
            return values | {"learner": {"kind": "perceptron"} | learner}
        return values
