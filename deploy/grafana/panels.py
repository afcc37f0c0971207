"""What the two dashboards show."""

from build import RATE, TOPIC, WHERE, dashboard, heatmap, lines, panel, row, stat, target

BAD_IF_ABOVE = (("green", None), ("red", 0.5))
GOOD_IF_HIGH = (("red", None), ("orange", 0.5), ("green", 0.8))
RATIO = {"min": 0, "max": 1}


def rate(metric: str, where: str = WHERE) -> str:
    """Write the increase a second."""
    return f"rate(streamlearn_{metric}{{{where}}}{RATE})"


OPERATIONS = [
    row("Now"),
    stat(
        "State",
        "1 beside the state that each daemon is in. Anything but running for long wants a look at its log.",
        f"streamlearn_state{{{WHERE}}} == 1",
        "none",
        legend="{{state}}",
        options={"textMode": "name", "graphMode": "none"},
    ),
    stat(
        "Broker",
        "1 while a broker answers. While it does not, the daemon waits and loses nothing.",
        f"streamlearn_consumer_connected{{{WHERE}}}",
        "none",
        thresholds=(("red", None), ("green", 1)),
    ),
    stat(
        "Lag",
        "Records that the broker holds and that were not read yet, of all partitions.",
        f"sum by (instance) (streamlearn_consumer_lag_records{{{TOPIC}}})",
        "short",
        thresholds=(("green", None), ("orange", 10_000), ("red", 1_000_000)),
    ),
    stat(
        "Time to drain",
        "How long the lag lasts at the speed of now, if nothing new came.",
        f"sum by (instance) (streamlearn_consumer_lag_records{{{TOPIC}}}) / "
        f"sum by (instance) ({rate('consumer_records_total', TOPIC)})",
        "s",
        thresholds=(("green", None), ("orange", 600), ("red", 3600)),
    ),
    stat(
        "Checkpoint age",
        "Work that a crash would cost; it grows on an idle stream too, where there is nothing to save.",
        f"time() - streamlearn_last_checkpoint_timestamp_seconds{{{WHERE}}}",
        "s",
        thresholds=(("green", None), ("orange", 300), ("red", 900)),
    ),
    stat(
        "Up since",
        "When the process started.",
        f"process_start_time_seconds{{{WHERE}}} * 1000",
        "dateTimeFromNow",
        options={"graphMode": "none"},
    ),
    row("Stream"),
    lines(
        "Lag by partition",
        "Records behind, by partition. One line that rises alone is a partition that is not read.",
        [target(f"streamlearn_consumer_lag_records{{{TOPIC}}}", "{{topic}}[{{partition}}]")],
        "short",
    ),
    lines(
        "Age of the last record",
        "Seconds since the newest record that was read was written; on an idle partition it grows.",
        [
            target(
                f"time() - streamlearn_consumer_last_record_timestamp_seconds{{{TOPIC}}}",
                "{{topic}}[{{partition}}]",
            )
        ],
        "s",
    ),
    lines(
        "Throughput",
        "Records read and sequences learned a second.",
        [
            target(f"sum by (instance) ({rate('consumer_records_total', TOPIC)})", "{{instance}} read"),
            target(f"sum by (instance) ({rate('sequences_total')})", "{{instance}} learned"),
        ],
        "ops",
    ),
    lines(
        "Bytes read",
        "Bytes of record values a second, by topic.",
        [target(rate("consumer_bytes_total", TOPIC), "{{topic}}")],
        "Bps",
    ),
    lines(
        "Rejected records",
        "Records a second that could not be learned from, by reason.",
        [target(f"sum by (reason) ({rate('records_rejected_total')})", "{{reason}}")],
        "ops",
    ),
    lines(
        "Dead letters",
        "Rejected records kept, in their topic or spooled to disk, a second.",
        [target(f"sum by (outcome) ({rate('dead_letters_total')})", "{{outcome}}")],
        "ops",
    ),
    lines(
        "Lost, jumped over, restarted, read again",
        "Records lost to retention (never good), jumps over offsets without records (harmless), consumers "
        "that were rebuilt, polls with records from the future, and records read again after a crash or a "
        "rollback, in the range of a rate.",
        [
            target(f"increase(streamlearn_consumer_records_lost_total{{{WHERE}}}{RATE})", "lost"),
            target(f"increase(streamlearn_consumer_offset_gaps_total{{{WHERE}}}{RATE})", "jumps"),
            target(f"increase(streamlearn_consumer_restarts_total{{{WHERE}}}{RATE})", "restart: {{reason}}"),
            target(
                f"increase(streamlearn_consumer_future_timestamps_total{{{WHERE}}}{RATE})", "from the future"
            ),
            target(f"increase(streamlearn_replayed_records_total{{{WHERE}}}{RATE})", "read again"),
        ],
        "short",
        thresholds=BAD_IF_ABOVE,
    ),
    lines(
        "Since the last poll",
        "Seconds since the loop last asked for records; more than one batch takes is a loop that hangs.",
        [target(f"time() - streamlearn_consumer_last_poll_timestamp_seconds{{{WHERE}}}", "{{instance}}")],
        "s",
        thresholds=(("green", None), ("red", 120)),
    ),
    heatmap("Length of sequences", "Sequences by their number of tokens.", "sequence_length_tokens", "short"),
    row("Work"),
    heatmap("Time to learn a batch", "Batches by the time in the learner.", "learn_duration_seconds", "s"),
    heatmap(
        "Time to decode a batch", "Batches by the time from bytes to arrays.", "decode_duration_seconds", "s"
    ),
    lines(
        "CPU",
        "Cores in use.",
        [target(f"rate(process_cpu_seconds_total{{{WHERE}}}{RATE})", "{{instance}}")],
        "short",
    ),
    lines(
        "Memory",
        "Resident memory; it is bounded by the tables of the configuration, not by the stream.",
        [target(f"process_resident_memory_bytes{{{WHERE}}}", "{{instance}}")],
        "bytes",
    ),
    lines(
        "Open files",
        "File descriptors in use, and how many may be.",
        [
            target(f"process_open_fds{{{WHERE}}}", "{{instance}}"),
            target(f"process_max_fds{{{WHERE}}}", "{{instance}} limit"),
        ],
        "short",
    ),
    lines(
        "Garbage collections",
        "Collections a second, by generation.",
        [target(f"rate(python_gc_collections_total{{{WHERE}}}{RATE})", "generation {{generation}}")],
        "ops",
    ),
    row("Checkpoints"),
    lines(
        "Age",
        "Seconds since the last good checkpoint.",
        [target(f"time() - streamlearn_last_checkpoint_timestamp_seconds{{{WHERE}}}", "{{instance}}")],
        "s",
        thresholds=(("green", None), ("red", 900)),
    ),
    lines(
        "Outcomes",
        "Checkpoints in the range of a rate, by outcome.",
        [
            target(
                f"sum by (outcome) (increase(streamlearn_checkpoints_total{{{WHERE}}}{RATE}))", "{{outcome}}"
            )
        ],
        "short",
    ),
    lines(
        "Size and room",
        "Size of the last checkpoint, and free space where it is.",
        [
            target(f"streamlearn_checkpoint_size_bytes{{{WHERE}}}", "size"),
            target(f"streamlearn_checkpoint_disk_free_bytes{{{WHERE}}}", "free"),
        ],
        "bytes",
        defaults={"custom": {"scaleDistribution": {"type": "log", "log": 10}}},
    ),
    heatmap(
        "Time of the copy",
        "Checkpoints by how long learning paused.",
        "checkpoint_duration_seconds",
        "s",
        f'{WHERE}, phase="copy"',
    ),
    heatmap(
        "Time of the write",
        "Checkpoints by how long the background write took.",
        "checkpoint_duration_seconds",
        "s",
        f'{WHERE}, phase="write"',
    ),
]

ACCURACY = f"streamlearn_progressive_accuracy_ratio{{{WHERE}, "

LEARNING = [
    row("Progressive scores: every sequence predicted before it was learned"),
    stat(
        "Accuracy of late",
        "Share of right tokens among the recent sequences.",
        f'{ACCURACY}window="recent", level="token"}}',
        "percentunit",
        thresholds=GOOD_IF_HIGH,
        defaults=RATIO,
    ),
    stat(
        "Accuracy of all",
        "Share of right tokens since the first start.",
        f'{ACCURACY}window="lifetime", level="token"}}',
        "percentunit",
        thresholds=GOOD_IF_HIGH,
        defaults=RATIO,
    ),
    stat(
        "F1 of late",
        "F1 of spans among the recent sequences; no data where labels mark none.",
        f'streamlearn_progressive_f1_ratio{{{WHERE}, window="recent"}}',
        "percentunit",
        thresholds=GOOD_IF_HIGH,
        defaults=RATIO,
    ),
    stat(
        "Sequences",
        "Sequences in the weights since the first start.",
        f"streamlearn_sequences_seen{{{WHERE}}}",
        "short",
    ),
    stat(
        "Weight change",
        "How much of the norm of the weights the last stretch changed; it falls while learning converges.",
        f"streamlearn_weight_delta_ratio{{{WHERE}}}",
        "percentunit",
        thresholds=(("green", None), ("orange", 0.5), ("red", 1)),
    ),
    stat(
        "Drifts in a day",
        "Changes of the world that were detected in the last 24 hours.",
        f"sum by (instance) (increase(streamlearn_drift_detected_total{{{WHERE}}}[24h]))",
        "short",
        thresholds=(("green", None), ("orange", 0.5)),
    ),
    lines(
        "Token accuracy",
        "The learning curve, by window.",
        [target(f'{ACCURACY}level="token"}}', "{{window}}")],
        "percentunit",
        width=12,
        defaults={"max": 1},
    ),
    lines(
        "Sequence accuracy",
        "Share of sequences without any mistake, by window.",
        [target(f'{ACCURACY}level="sequence"}}', "{{window}}")],
        "percentunit",
        width=12,
        defaults={"max": 1},
    ),
    lines(
        "F1",
        "F1 of spans by window, and the mean over types of spans or labels.",
        [
            target(f"streamlearn_progressive_f1_ratio{{{WHERE}}}", "micro {{window}}"),
            target(f"streamlearn_progressive_macro_f1_ratio{{{WHERE}}}", "macro recent"),
        ],
        "percentunit",
        defaults={"max": 1},
    ),
    lines(
        "Mean loss",
        "The learner's loss of a sequence, before it was learned.",
        [
            target(
                f"sum by (instance) ({rate('loss_total')}) / sum by (instance) ({rate('sequences_total')})",
                "{{instance}}",
            )
        ],
        "short",
    ),
    lines(
        "Mistakes and updates",
        "Share of tokens and sequences that were wrong, and of sequences that changed the weights.",
        [
            target(
                f"sum({rate('mistakes_total', WHERE + ', level=' + chr(34) + 'token' + chr(34))}) / "
                f"sum({rate('tokens_total')})",
                "wrong tokens",
            ),
            target(
                f"sum({rate('mistakes_total', WHERE + ', level=' + chr(34) + 'sequence' + chr(34))}) / "
                f"sum({rate('sequences_total')})",
                "wrong sequences",
            ),
            target(f"sum({rate('updates_total')}) / sum({rate('sequences_total')})", "updates"),
        ],
        "percentunit",
    ),
    row("Labels"),
    panel(
        "bargauge",
        "F1 by label",
        "F1 of the most frequent labels or types of spans over the last one to two thousand sequences.",
        [target(f"streamlearn_label_f1_ratio{{{WHERE}}}", "{{label}}", instant=True)],
        "percentunit",
        width=12,
        thresholds=GOOD_IF_HIGH,
        defaults=RATIO,
        options={"orientation": "horizontal", "displayMode": "gradient"},
    ),
    lines(
        "F1 by label over time",
        "The same over time.",
        [target(f"streamlearn_label_f1_ratio{{{WHERE}}}", "{{label}}")],
        "percentunit",
        width=12,
        defaults={"max": 1},
    ),
    row("Drift"),
    lines(
        "How far signals are above what they were",
        "Standard errors by which the last values of a signal are above those before; chance is below 4.",
        [target(f"streamlearn_drift_score{{{WHERE}}}", "{{signal}}")],
        "short",
        width=12,
        thresholds=(("green", None), ("red", 4)),
    ),
    lines(
        "Drifts",
        "Detected changes in the range of a rate, by signal and detector.",
        [target(f"increase(streamlearn_drift_detected_total{{{WHERE}}}{RATE})", "{{signal}}, {{detector}}")],
        "short",
        width=12,
        thresholds=BAD_IF_ABOVE,
    ),
    row("Model"),
    lines(
        "Features and labels",
        "Features that have weights, and labels discovered.",
        [
            target(f"streamlearn_features_known{{{WHERE}}}", "features"),
            target(f"streamlearn_labels_known{{{WHERE}}}", "labels"),
        ],
        "short",
    ),
    lines(
        "Refused features",
        "Sightings a second of new features that found their table full.",
        [target(rate("features_refused_total"), "{{instance}}")],
        "ops",
        thresholds=BAD_IF_ABOVE,
    ),
    lines(
        "Norms",
        "Norm of the weights, and of their change over the last stretch of learning.",
        [
            target(f"streamlearn_weights_norm{{{WHERE}}}", "weights"),
            target(f"streamlearn_last_weights_norm{{{WHERE}}}", "newest weights"),
            target(f"streamlearn_update_norm{{{WHERE}}}", "change"),
        ],
        "short",
    ),
    lines(
        "Weight change",
        "The change relative to the norm, and the sequences in the stretch: when those double, it grows.",
        [
            target(f"streamlearn_weight_delta_ratio{{{WHERE}}}", "ratio"),
            target(f"streamlearn_weight_delta_sequences{{{WHERE}}} / 1000", "thousand sequences"),
        ],
        "short",
    ),
    row("Perceptron"),
    lines(
        "Limit of the margin",
        "No weights of norm 1 separate the stream by a larger margin. If it falls for ever, none do at all.",
        [target(f"streamlearn_margin_limit{{{WHERE}}}", "{{instance}}")],
        "short",
        width=24,
    ),
    row("ADF and SGD"),
    lines(
        "Rates of features",
        "Quantiles of the rates that features had when last seen.",
        [target(f"streamlearn_learning_rate{{{WHERE}}}", "{{quantile}}")],
        "short",
        width=12,
        defaults={"custom": {"scaleDistribution": {"type": "log", "log": 10}}},
    ),
    lines(
        "Window",
        "Number of the window that counts frequencies.",
        [target(f"streamlearn_frequency_window{{{WHERE}}}", "{{instance}}")],
        "short",
        width=12,
    ),
    row("Structured weighted violations perceptron"),
    lines(
        "Violations",
        "Mixed labellings a second that scored above the gold one, and that did not.",
        [target(f"sum by (kind) ({rate('violations_total')})", "{{kind}}")],
        "ops",
        width=12,
    ),
    lines(
        "Back-offs",
        "Updates a second that fell back to the perceptron's.",
        [target(rate("swvp_backoffs_total"), "{{instance}}")],
        "ops",
        width=12,
    ),
]

DASHBOARDS = [
    dashboard(
        "streamlearn-operations",
        "streamlearn: operations",
        "Is it running, does it keep up, is its work safe?",
        OPERATIONS,
    ),
    dashboard(
        "streamlearn-learning",
        "streamlearn: learning",
        "What does it learn, how well, and does the world change?",
        LEARNING,
    ),
]
