"""The failure catalogue: which tests stand for each way in which a daemon on a stream can fail."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

# Those of `soak` do it on a broker, again and again in `python -m tests.soak`.
CATALOGUE: dict[str, dict[str, list[str]]] = {
    "a value that is no record, a tombstone, an unknown codec": {
        "stream/test_record_codec.py": [
            "test_bad_records_are_refused_with_reason_and_place",
            "test_a_tombstone_is_refused",
            "test_too_large_is_refused",
            "test_an_unknown_content_type_is_refused",
        ],
        "stream/test_kafka_source.py": ["test_every_compression_is_read"],
        "app/test_dead_letter_sink.py": [
            "test_bad_records_come_to_the_topic_untouched_and_replayed_ones_are_learned_once"
        ],
    },
    "a huge record, and one batch that cannot be read": {
        "stream/test_kafka_source.py": [
            "test_a_message_of_five_megabytes_passes",
            "test_a_batch_damaged_on_disk_is_named_after_everything_before_it",
        ],
    },
    "the dead-letter topic is away": {
        "app/test_dead_letter_sink.py": [
            "test_a_topic_that_is_deleted_stops_the_daemon_and_nothing_is_passed_over",
            "test_a_topic_that_is_missing_is_replaced_by_the_file_where_that_is_wanted",
        ],
        "daemon/test_loop.py": ["test_no_checkpoint_passes_a_bad_record_before_its_letter_is_durable"],
    },
    "kill -9 at any instant, also between write, fsync, replace and prune": {
        "checkpoint/test_crash.py": ["test_a_kill_at_any_step_leaves_the_old_or_the_new_state"],
        "app/test_run.py": [
            "test_killed_at_random_instants_it_ends_with_the_weights_of_an_uninterrupted_run",
            "test_killed_at_random_instants_several_partitions_in_turns_give_the_same_weights",
        ],
        "soak/faults.py": ["kill", "kill_in_a_checkpoint"],
    },
    "the newest checkpoint is torn, bit-flipped or empty": {
        "checkpoint/test_local.py": [
            "test_a_damaged_newest_is_set_aside_and_counted_and_the_one_before_is_used",
        ],
        "checkpoint/test_store_contract.py": [
            "test_when_none_verifies_it_refuses_to_start_however_often_it_is_asked",
        ],
        "checkpoint/test_codec.py": ["test_every_flipped_bit_is_corrupt"],
        "soak/faults.py": ["damage"],
    },
    "the disk is full or read-only": {
        "checkpoint/test_local.py": [
            "test_too_little_room_is_noticed_before_anything_is_written",
            "test_a_disk_that_fills_during_the_write_keeps_the_older_ones",
            "test_a_disk_that_becomes_read_only_is_reported_in_words",
        ],
        "daemon/test_loop.py": [
            "test_a_disk_that_fails_does_not_stop_learning_but_fails_the_last_checkpoint"
        ],
        "soak/faults.py": ["disk_full"],
    },
    "two daemons on one state": {
        "app/test_run.py": ["test_a_second_daemon_on_the_same_state_ends_with_75"],
        "soak/faults.py": ["second_daemon"],
    },
    "a broker restarts, another leads, none answers at the start or for a minute": {
        "stream/test_kafka_source.py": [
            "test_a_restarted_broker_costs_no_record",
            "test_a_broker_that_is_away_at_the_start_is_waited_for_and_said_once",
        ],
        "app/test_run.py": [
            "test_a_broker_that_goes_away_makes_it_unready_but_leaves_it_alive_and_costs_nothing"
        ],
        "soak/test_soak.py": ["test_a_leader_that_dies_costs_no_record_and_repeats_none"],
        "soak/outages.py": ["broker_away", "broker_killed", "all_away_for_a_minute"],
    },
    "no broker leads a partition, or its leader does not answer": {
        "app/test_leaderless.py": [
            "test_a_daemon_that_runs_or_starts_without_a_leader_learns_everything_once"
        ],
        "stream/test_known_offsets.py": [
            "test_a_partition_without_an_answer_is_left_out",
            "test_a_partition_is_read_on_once_it_has_a_leader_also_by_another_client",
            "test_a_partition_that_loses_its_leader_while_it_is_read_has_an_unknown_lag",
            "test_another_log_under_a_partition_is_refused_as_soon_as_it_has_a_leader",
            "test_records_that_a_partition_lost_meanwhile_are_counted",
        ],
        "stream/test_deterministic_order.py": [
            "test_partitions_that_lose_their_leader_for_a_while_change_nothing_in_the_order"
        ],
    },
    "one partition falls silent": {
        "stream/test_kafka_source.py": ["test_a_partition_that_goes_silent_is_read_on_by_a_new_client"],
    },
    "a topic is deleted or recreated, retention has passed, the log was truncated": {
        "stream/test_kafka_source.py": [
            "test_a_topic_deleted_or_recreated_under_a_running_source_stops_it",
            "test_deleting_one_of_several_topics_names_it_and_stops_the_source",
            "test_a_partition_without_an_answer_is_not_deleted",
            "test_a_topic_that_was_created_anew_and_is_shorter_is_refused",
            "test_another_record_at_the_last_offset_is_refused",
            "test_records_lost_to_retention_stop_the_source",
            "test_records_lost_while_reading_follow_the_same_policy",
        ],
        "app/test_run.py": ["test_a_topic_that_was_created_again_is_not_continued"],
        "soak/topics.py": [
            "topic_created_again",
            "retention_passes_what_was_learned",
            "retention_passes_the_daemon",
        ],
    },
    "partitions are added": {
        "stream/test_kafka_source.py": ["test_added_partitions_are_read_from_their_beginning"],
        "soak/topics.py": ["add_a_partition"],
    },
    "transactions, aborted records, compaction": {
        "stream/test_kafka_source.py": [
            "test_aborted_transactions_are_invisible_and_lag_reaches_zero",
            "test_a_compacted_topic_is_read_on_from_a_record_that_is_gone",
        ],
        "daemon/test_loop.py": ["test_a_jump_of_offsets_is_told_and_a_return_is_refused"],
    },
    "lag that is negative or frozen": {
        "stream/source_contract.py": ["test_status_covers_every_partition_and_lag_reaches_zero"],
        "telemetry/test_metrics.py": [
            "test_a_partition_without_records_has_its_series_and_a_lag_that_is_not_known"
        ],
    },
    "records of the future, a clock that jumps": {
        "telemetry/test_metrics.py": ["test_records_that_are_stamped_with_the_future_are_counted"],
        "checkpoint/test_schedule.py": ["test_intervals_count_from_the_last_attempt"],
    },
    "a stop during a checkpoint, a second stop, a stop before the first poll": {
        "daemon/test_loop.py": ["test_a_stop_during_a_checkpoint_waits_for_it_and_saves_the_rest"],
        "app/test_stop.py": ["test_the_second_signal_ends_it_at_once"],
        "app/test_run.py": [
            "test_a_stop_while_no_broker_answers_is_clean",
            "test_a_stop_while_kernels_are_compiled_need_not_wait_for_them",
        ],
        "soak/faults.py": ["stop"],
    },
    "frozen for longer than a session": {
        "stream/test_kafka_source.py": ["test_a_frozen_broker_is_noticed_and_closing_does_not_hang"],
        "soak/faults.py": ["freeze"],
    },
    "a port that is taken, a directory or a TLS file that is missing, wrong credentials": {
        "app/test_run.py": ["test_a_port_that_is_taken_ends_with_78_before_anything_is_read"],
        "checkpoint/test_lock.py": ["test_a_directory_that_is_none_is_refused"],
        "stream/test_kafka_source.py": [
            "test_a_missing_tls_file_is_named",
            "test_credentials_are_passed_on_and_refusals_are_authentication_errors",
        ],
    },
    "producers that send twice": {
        "daemon/test_duplicates.py": ["test_what_was_sent_twice_is_learned_once"],
    },
    "memory over weeks": {
        "soak/test_memory.py": ["test_a_stream_of_nothing_but_news_leaves_no_object_behind"],
        "features/test_space.py": ["test_full_tables_refuse_and_count"],
        "features/test_values.py": ["test_a_tiny_cache_gives_the_ids_of_a_boundless_one_and_stays_bounded"],
        "telemetry/test_metrics.py": ["test_fewer_than_350_series_with_32_partitions"],
    },
}


@pytest.mark.parametrize("row", CATALOGUE)
def test_every_row_of_the_catalogue_has_its_tests(row: str) -> None:
    for file, names in CATALOGUE[row].items():
        tree = ast.parse((TESTS / file).read_text())
        there = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert set(names) <= there, file


def test_every_fault_of_the_soak_stands_in_the_catalogue() -> None:
    from tests.soak.faults import OF_THE_DAEMON
    from tests.soak.outages import OF_BROKERS, all_away_for_a_minute
    from tests.soak.topics import OF_TOPICS

    listed = {name for files in CATALOGUE.values() for names in files.values() for name in names}
    faults = (*OF_THE_DAEMON, *OF_BROKERS, *OF_TOPICS, all_away_for_a_minute)
    assert {fault.__name__ for fault in faults} <= listed
