"""The configuration section of each learner: its keys, their defaults and what they mean."""

from typing import Annotated, Literal

from pydantic import Field

from streamlearn.choices import Average, Condition, Rival, Substructures, Violation, Violations, Weighting
from streamlearn.config.section import Section


class _LearnerSection(Section):
    replay_tokens: int = Field(
        default=0,
        ge=0,
        le=1 << 30,
        description="Replay: keep this many tokens of recent sequences and learn from them again; 0 turns "
        "it off.",
    )
    replay_looks: int = Field(
        default=1,
        ge=1,
        le=16,
        description="Replay: learn from this many recent sequences again after each new one.",
    )


PredictWith = Annotated[
    Average,
    Field(
        description="Weights to predict with: the current ones (none), their average, or an exponential "
        "moving average."
    ),
]
HalfLife = Annotated[
    float,
    Field(
        gt=0,
        description="Half-life of the exponential average, in sequences. Only with `average: exponential`.",
    ),
]
Sigma = Annotated[
    float | None,
    # Its square is finite and not 0.
    Field(
        ge=1e-150,
        le=1e150,
        description="σ of the Gaussian prior on the weights (L2 regularization); null turns it off.",
    ),
]
Cost = Annotated[
    float,
    Field(ge=0, description="Margin required per wrong label (cost-augmented decoding); 0 turns it off."),
]


class PerceptronConfig(_LearnerSection):
    """Structured perceptron (Collins 2002)."""

    kind: Literal["perceptron"] = "perceptron"
    cost: Cost = 0.0
    beam: int = Field(
        default=0,
        ge=0,
        le=1 << 16,
        description="Beam width: labels that decoding keeps at each position; 0 decodes exactly.",
    )
    violation: Violation = Field(
        default="max",
        description="With a beam: update at the maximum violation, or stop at the first (early update).",
    )
    average: PredictWith = "all"
    half_life: HalfLife = 10_000.0


class VotedConfig(_LearnerSection):
    """Voted perceptron (Freund & Schapire 1999; Collins 2002) over the most recent weight vectors."""

    kind: Literal["voted"] = "voted"
    vectors: int = Field(
        default=10,
        ge=1,
        le=1000,
        description="K: number of most recent weight vectors that vote on a labelling.",
    )


class SwvpConfig(_LearnerSection):
    """Structured weighted violations perceptron (Dror & Reichart 2016)."""

    kind: Literal["swvp"] = "swvp"
    substructures: Substructures = Field(
        default="all",
        description="JJ, the sets of wrong positions: single, whole (all at once), blocks (contiguous), all "
        "subsets, or spans.",
    )
    max_errors: int = Field(
        default=6,
        ge=1,
        le=10,
        description="Enumerate all subsets up to this many errors; beyond it use contiguous blocks.",
    )
    gamma: Weighting = Field(
        default="wm",
        description="γ: weight violations by their margin (wm) or by the rank of the margin (wmr).",
    )
    beta: float = Field(default=1.0, ge=0, le=100, description="β: exponent of the margin or its rank.")
    violations: Violations = Field(
        default="aggressive",
        description="Update with violating mixed assignments only (aggressive), or with all of them "
        "(balanced).",
    )
    condition: Condition = Field(
        default="enforced",
        description="Balanced updates: enforce condition (2) of the paper, or follow the published form, "
        "which may violate it.",
    )
    cost: Cost = 0.0
    average: PredictWith = "all"
    half_life: HalfLife = 10_000.0


class PassiveAggressiveConfig(_LearnerSection):
    """Structured passive-aggressive learner, PA-I (Crammer et al. 2006)."""

    kind: Literal["pa"] = "pa"
    aggressiveness: float = Field(
        default=0.03, gt=0, description="C: upper bound on the step size of an update."
    )
    rival: Rival = Field(
        default="prediction",
        description="Move away from the loss-augmented prediction (max_loss) or from the plain prediction.",
    )
    average: PredictWith = "exponential"
    half_life: HalfLife = 2000.0


class ArowConfig(_LearnerSection):
    """Structured AROW with one variance per weight (Crammer, Kulesza & Dredze 2009)."""

    kind: Literal["arow"] = "arow"
    regularization: float = Field(
        default=10.0,
        gt=0,
        description="r: regularization. Larger values make smaller updates and let the variances shrink "
        "more slowly.",
    )
    average: PredictWith = "none"
    half_life: HalfLife = 10_000.0


class AdfConfig(_LearnerSection):
    """Conditional random field trained by ADF, with a learning rate per feature (Sun, Li, Wang & Lu 2014)."""

    kind: Literal["adf"] = "adf"
    rate: float = Field(default=0.1, gt=0, description="c: initial learning rate of a feature.")
    keep_rare: float = Field(
        default=0.995,
        gt=0,
        le=1,
        description="α: factor on the learning rate, once per window, of a feature that did not occur in it.",
    )
    keep_frequent: float = Field(
        default=0.6,
        gt=0,
        le=1,
        description="β: factor on the learning rate, once per window, of a feature that occurred in every "
        "sequence.",
    )
    window: int = Field(
        default=200,
        ge=1,
        le=1 << 30,
        description="Sequences in the first window; learning rates change at the end of each window.",
    )
    growth: float = Field(
        default=1.0, ge=1, le=10, description="Factor by which each window is longer than the one before."
    )
    min_rate: float = Field(
        default=0.0005, ge=0, description="Lower bound on every learning rate, so that learning never stops."
    )
    sigma: Sigma = 5.0
    late_start: bool = Field(
        default=False,
        description="Start features that appear later with the already decayed learning rate instead of "
        "`rate`.",
    )
    average: PredictWith = "none"
    half_life: HalfLife = 10_000.0


class SgdConfig(_LearnerSection):
    """Conditional random field trained by stochastic gradient descent."""

    kind: Literal["sgd"] = "sgd"
    rate: float = Field(default=0.1, gt=0, description="Initial learning rate.")
    decay: float = Field(
        default=0.95, gt=0, le=1, description="Factor on the learning rate after every `per` sequences."
    )
    per: int = Field(
        default=200, ge=1, le=1 << 30, description="Sequences between two decays of the learning rate."
    )
    min_rate: float = Field(
        default=0.0005, ge=0, description="Lower bound on the learning rate, so that learning never stops."
    )
    sigma: Sigma = 5.0
    average: PredictWith = "none"
    half_life: HalfLife = 10_000.0


class AdaGradConfig(_LearnerSection):
    """Conditional random field trained by AdaGrad (Duchi, Hazan & Singer 2011)."""

    kind: Literal["adagrad"] = "adagrad"
    rate: float = Field(
        default=0.1, gt=0, description="Learning rate: the step of a weight whose squared gradients sum to 1."
    )
    floor: float = Field(
        default=0.0, ge=0, description="Initial value of the sum of squared gradients of each weight."
    )
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
