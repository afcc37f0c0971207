"""The words that settings choose from, for the configuration and for what it configures."""

from typing import Literal

# What predictions are made with: the last weights, the average of all, or an exponential moving average.
Average = Literal["none", "all", "exponential"]

# Where an update of a perceptron with a beam ends.
Violation = Literal["max", "early"]

# SWVP (Dror & Reichart 2016): JJ, γ, which mixed assignments update, and whether condition (2) is enforced.
Substructures = Literal["single", "whole", "blocks", "all", "spans"]
Weighting = Literal["wm", "wmr"]
Violations = Literal["aggressive", "balanced"]
Condition = Literal["enforced", "published"]

# The labelling that a passive-aggressive update moves away from.
Rival = Literal["max_loss", "prediction"]

# Whose probabilities are predicted at each position: nobody's, the predicted label's, or every label's.
MarginalsOf = Literal["none", "best", "all"]

# Which labellings are valid; iobes is also BMES and BILOU.
Scheme = Literal["none", "bio", "iobes"]

# How the records mark spans, and how the model does.
FixedScheme = Literal["iob1", "bio", "iobes", "bmes", "bilou"]
DataScheme = Literal["auto", "iob1", "bio", "iobes", "bmes", "bilou"]
ModelScheme = Literal["bio", "iobes"]

# Why learning looks broken.
Problem = Literal["gold_scheme", "one_label", "features_unknown", "records_rejected", "loss"]

# What is watched for concept drift, and by which of river's detectors.
Signal = Literal["error", "loss", "unknown", "labels"]
DetectorKind = Literal["adwin", "page_hinkley", "kswin"]

# Formats of records, of files of sequences, and what separates the fields of a row.
ContentType = Literal["json", "msgpack"]
Form = Literal["json", "columns"]
Separator = Literal["auto", "tab", "whitespace"]

# Where a stream is first read from, what to do about records that are gone, and how repeats are recognized.
StartAt = Literal["earliest", "latest"]
OnGap = Literal["fail", "continue"]
DeduplicateBy = Literal["key", "id"]

# Why a Kafka client was recreated, what became of a dead letter, and how a checkpoint's write ended.
RestartReason = Literal["stalled", "unreadable"]
LetterOutcome = Literal["delivered", "spooled"]
WriteOutcome = Literal["written", "failed"]

# How the log is written.
LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]

# The quantiles of the learning rates that are shown.
QUANTILES = ("0.1", "0.5", "0.9")
