"""The section of each learner: its settings, their defaults and what they mean."""

from typing import Annotated, Literal

from pydantic import Field

from streamlearn.choices import Average, Condition, Rival, Substructures, Violation, Violations, Weighting
from streamlearn.config.section import Section


class _LearnerSection(Section):
    replay_tokens: int = Field(
        default=0,
        ge=0,
        le=1 << 30,
        description="Tokens of the recent past kept for second looks; 0 for none.",
    )
    replay_looks: int = Field(
        default=1, ge=1, le=16, description="Recent sequences looked at again after each new one."
    )


PredictWith = Annotated[
    Average,
    Field(description="Predict with the last weights, the average of all, or a fading one."),
]
HalfLife = Annotated[float, Field(gt=0, description="Half-life of the exponential average, in sequences.")]
Sigma = Annotated[
    float | None, Field(gt=0, description="σ of the Gaussian prior of the weights; null for no L2 term.")
]
Cost = Annotated[float, Field(ge=0, description="Margin that is asked for each wrong label.")]


class PerceptronConfig(_LearnerSection):
    """Collins' structured perceptron."""

    kind: Literal["perceptron"] = "perceptron"
    cost: Cost = 0.0
    beam: int = Field(
        default=0,
        ge=0,
        le=1 << 16,
        description="Labels that every search keeps at each position; 0: it is exact.",
    )
    violation: Violation = Field(
        default="max", description="Where updates with a beam end: at the largest violation, or the first."
    )
    average: PredictWith = "all"
    half_life: HalfLife = 10_000.0


class VotedConfig(_LearnerSection):
    """Voted perceptron (Freund & Schapire 1999; Collins 2002) of the last weight vectors."""

    kind: Literal["voted"] = "voted"
    vectors: int = Field(
        default=10, ge=1, le=1000, description="K: the last so many weight vectors vote on a labelling."
    )


class SwvpConfig(_LearnerSection):
    """Structured weighted violations perceptron (Dror & Reichart 2016)."""

    kind: Literal["swvp"] = "swvp"
    substructures: Substructures = Field(
        default="all",
        description="JJ: wrong positions one by one, as a whole, in runs, in all sets; or the wrong spans.",
    )
    max_errors: int = Field(
        default=6,
        ge=1,
        le=10,
        description="All sets are taken of so many wrong positions at the most, else blocks.",
    )
    gamma: Weighting = Field(default="wm", description="Weigh by the margin, or by the rank of the margin.")
    beta: float = Field(default=1.0, ge=0, le=100, description="β: power of the margin or its rank.")
    violations: Violations = Field(
        default="aggressive", description="Update with violations only, or with all mixed assignments."
    )
    condition: Condition = Field(
        default="enforced",
        description="Whether the balanced form meets condition (2), or not, as it was published.",
    )
    cost: Cost = 0.0
    average: PredictWith = "all"
    half_life: HalfLife = 10_000.0


class PassiveAggressiveConfig(_LearnerSection):
    """Structured passive-aggressive, PA-I (Crammer et al. 2006)."""

    kind: Literal["pa"] = "pa"
    aggressiveness: float = Field(default=0.03, gt=0, description="C: no update has a larger factor.")
    rival: Rival = Field(
        default="prediction",
        description="Move away from the labelling of the largest loss, or from what is predicted.",
    )
    average: PredictWith = "exponential"
    half_life: HalfLife = 2000.0


class ArowConfig(_LearnerSection):
    """Structured AROW with a variance for each weight (Crammer, Kulesza & Dredze 2009)."""

    kind: Literal["arow"] = "arow"
    regularization: float = Field(
        default=10.0, gt=0, description="r: the larger, the shorter the updates, and the longer they stay so."
    )
    average: PredictWith = "none"
    half_life: HalfLife = 10_000.0


class AdfConfig(_LearnerSection):
    """Conditional random field trained by ADF (Sun, Li, Wang & Lu 2014)."""

    kind: Literal["adf"] = "adf"
    rate: float = Field(default=0.1, gt=0, description="c: the rate of a new feature.")
    keep_rare: float = Field(
        default=0.995, gt=0, le=1, description="α: kept of a feature's rate after a window without it."
    )
    keep_frequent: float = Field(
        default=0.6, gt=0, le=1, description="β: kept of a feature's rate if every sequence had it."
    )
    window: int = Field(default=200, ge=1, le=1 << 30, description="Sequences in the first window.")
    growth: float = Field(default=1.0, ge=1, le=10, description="Factor from each window to the next.")
    min_rate: float = Field(default=0.0005, ge=0, description="No rate falls below it: learning never ends.")
    sigma: Sigma = 5.0
    late_start: bool = Field(
        default=False,
        description="Give new features the rate they would have if known from the start.",
    )
    average: PredictWith = "none"
    half_life: HalfLife = 10_000.0


class SgdConfig(_LearnerSection):
    """Conditional random field trained by stochastic gradient descent."""

    kind: Literal["sgd"] = "sgd"
    rate: float = Field(default=0.1, gt=0, description="The rate of the first sequences.")
    decay: float = Field(
        default=0.95, gt=0, le=1, description="Factor of the rate after every `per` sequences."
    )
    per: int = Field(default=200, ge=1, le=1 << 30, description="Sequences between two changes of the rate.")
    min_rate: float = Field(
        default=0.0005, ge=0, description="The rate does not fall below it: learning never ends."
    )
    sigma: Sigma = 5.0
    average: PredictWith = "none"
    half_life: HalfLife = 10_000.0


class AdaGradConfig(_LearnerSection):
    """Conditional random field trained by AdaGrad (Duchi, Hazan & Singer 2011)."""

    kind: Literal["adagrad"] = "adagrad"
    rate: float = Field(default=0.1, gt=0, description="Rate of a weight whose squared gradients sum to 1.")
    floor: float = Field(default=0.0, ge=0, description="What the sum of squared gradients begins with.")
    sigma: Sigma = 5.0


LearnerConfig = Annotated[
    PerceptronConfig
    | VotedConfig
    | SwvpConfig
    | PassiveAggressiveConfig
    | ArowConfig
    | AdfConfig
    | SgdConfig
    | AdaGradConfig,
    Field(discriminator="kind"),
]
