"""What only a real broker can show; the behaviour that every source shares is in source_contract.py."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer
from kafka import TopicPartition as KafkaPartition

from streamlearn.data import Position, TopicPartition
from streamlearn.errors import AuthenticationError, BrokerUnavailableError, ConfigError, StreamError
from streamlearn.stream.kafka.consumer import KafkaSource
from streamlearn.stream.kafka.read_settings import ReadSettings
from tests.conftest import Broker
from tests.kafka.broker import ApacheKafka, free_ports
from tests.kafka.topics import admin, create, produce, remove_before
from tests.stream.source_contract import Sent, drain, numbered, positions_after, values
from tests.waiting import until

pytestmark = pytest.mark.apache

Make = Callable[..., KafkaSource]


@pytest.fixture
def make(apache_kafka: Broker) -> Iterator[Make]:
    """A maker of sources on Apache Kafka, closed at the end."""
    sources: list[KafkaSource] = []

    def made(*topics: str, **options: Any) -> KafkaSource:
        client = apache_kafka.client | options.pop("client", {})
        callbacks = {name: options.pop(name) for name in ("on_lost", "on_restart") if name in options}
        sources.append(KafkaSource(client, ReadSettings(topics, **options), **callbacks))
        return sources[-1]

    yield made
    for source in sources:
        source.close()


def opened(source: KafkaSource, positions: dict[TopicPartition, Position] | None = None) -> KafkaSource:
    source.open(source.start_positions() if positions is None else positions)
    return source


def filled(broker: Broker, topic: str, count: int) -> TopicPartition:
    """Create a topic of one partition with `count` records, and return the partition."""
    create(broker, topic)
    tp = TopicPartition(topic, 0)
    produce(broker, tp, numbered(count))
    return tp


def learned(source: KafkaSource, count: int) -> dict[TopicPartition, Position]:
    """Read `count` records from the start; give the positions after them."""
    start = source.start_positions()
    source.open(start)
    return positions_after(drain(source, count), start)


# Where reading starts


def test_latest_starts_after_what_is_there(apache_kafka: Broker, make: Make, topic: str) -> None:
    tp = filled(apache_kafka, topic, 7)
    source = make(topic, start="latest")
    assert source.start_positions() == {tp: Position(7)}
    opened(source)
    produce(apache_kafka, tp, numbered(2, "new"))
    assert values(drain(source, 2), tp) == [b"new0", b"new1"]


def test_a_time_starts_at_the_first_record_since_then(apache_kafka: Broker, make: Make, topic: str) -> None:
    create(apache_kafka, topic, 2)
    hour_ms, noon = 3_600_000, datetime(2025, 5, 17, 12, tzinfo=UTC)
    noon_ms = int(noon.timestamp() * 1000)
    times = [noon_ms - hour_ms, noon_ms - 1, noon_ms, noon_ms + hour_ms]
    produce(apache_kafka, TopicPartition(topic, 0), numbered(4), timestamps_ms=times)
    produce(apache_kafka, TopicPartition(topic, 1), numbered(2), timestamps_ms=times[:2])
    positions = make(topic, start=noon).start_positions()
    assert [at.next_offset for at in positions.values()] == [2, 2]


def test_several_topics_and_chosen_partitions_are_read(
    apache_kafka: Broker, make: Make, topic_name: Callable[[], str]
) -> None:
    topics = [topic_name(), topic_name()]
    for name in topics:
        create(apache_kafka, name, 3)
        for p in range(3):
            produce(apache_kafka, TopicPartition(name, p), numbered(2, f"{p}-"))
    source = opened(make(*topics, partitions=[0, 2]))
    records = drain(source, 8)
    assert {(r.topic, r.partition) for r in records} == {(name, p) for name in topics for p in (0, 2)}


def test_identity_names_the_cluster_and_each_incarnation_of_a_topic(
    apache_kafka: Broker, make: Make, topic: str
) -> None:
    create(apache_kafka, topic)
    identity = make(topic).identity()
    assert identity.cluster_id
    assert identity.topic_ids[topic]
    recreate(apache_kafka, topic)
    again = make(topic).identity()
    assert again.cluster_id == identity.cluster_id
    assert again.topic_ids[topic] != identity.topic_ids[topic]


def refuses_after_recreation(
    broker: Broker, make: Make, topic: str, records: Sequence[Sent], message: str
) -> None:
    """Learn five records, replace the topic by one with `records`, and expect a StreamError."""
    tp = filled(broker, topic, 5)
    positions = learned(make(topic), 5)
    recreate(broker, topic)
    produce(broker, tp, records)
    with pytest.raises(StreamError, match=message):
        make(topic).open(positions)


def recreate(broker: Broker, topic: str) -> None:
    delete(broker, topic)
    until(lambda: _created(broker, topic), what="the new topic")


def delete(broker: Broker, topic: str) -> None:
    with admin(broker) as client:
        client.delete_topics([topic])
        until(lambda: topic not in client.list_topics(), what="the deletion")


def _created(broker: Broker, topic: str) -> bool:
    try:
        create(broker, topic)
    except Exception:
        return False
    return True


# Whether the log is still the one


def test_records_lost_to_retention_stop_the_source(apache_kafka: Broker, make: Make, topic: str) -> None:
    tp = filled(apache_kafka, topic, 20)
    remove_before(apache_kafka, tp, 15)
    with pytest.raises(StreamError, match=r"@5: 10 records were deleted .* begins at 15"):
        make(topic).open({tp: Position(5, 4, 1, 1)})


def test_records_lost_to_retention_are_counted_where_that_is_accepted(
    apache_kafka: Broker, make: Make, topic: str
) -> None:
    tp = filled(apache_kafka, topic, 20)
    remove_before(apache_kafka, tp, 15)
    source = make(topic, on_gap="continue")
    assert source.open({tp: Position(5, 4, 1, 1)}) == {tp: 10}
    assert [r.offset for r in drain(source, 5)] == [15, 16, 17, 18, 19]


def test_a_position_just_at_the_beginning_is_no_loss(apache_kafka: Broker, make: Make, topic: str) -> None:
    tp = filled(apache_kafka, topic, 20)
    positions = learned(make(topic), 20)
    remove_before(apache_kafka, tp, 20)
    assert make(topic).open(positions) == {}


@pytest.mark.parametrize("on_gap", ["fail", "continue"])
def test_records_lost_while_reading_follow_the_same_policy(
    apache_kafka: Broker, make: Make, topic: str, on_gap: Any
) -> None:
    tp = filled(apache_kafka, topic, 30)
    told: dict[TopicPartition, int] = {}
    source = opened(make(topic, on_gap=on_gap, on_lost=told.__setitem__))
    remove_before(apache_kafka, tp, 25)
    if on_gap == "continue":
        assert [r.offset for r in drain(source, 5)] == [25, 26, 27, 28, 29]
        assert told == {tp: 25}
    else:
        with pytest.raises(StreamError, match="25 records were deleted"):
            until(lambda: source.poll(0.2))


def test_a_topic_that_was_created_anew_and_is_shorter_is_refused(
    apache_kafka: Broker, make: Make, topic: str
) -> None:
    refuses_after_recreation(apache_kafka, make, topic, numbered(2), "@5: the log ends at 2")


def test_another_record_at_the_last_offset_is_refused(apache_kafka: Broker, make: Make, topic: str) -> None:
    refuses_after_recreation(
        apache_kafka, make, topic, numbered(50, "other"), "@4: this is not the record that was learned from"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [("recreate", "deleted and recreated"), ("delete", "the partition no longer exists")],
)
def test_a_topic_deleted_or_recreated_under_a_running_source_stops_it(
    apache_kafka: Broker, make: Make, topic: str, change: str, message: str
) -> None:
    create(apache_kafka, topic)
    source = opened(make(topic, discovery_seconds=0.2))
    {"recreate": recreate, "delete": delete}[change](apache_kafka, topic)
    with pytest.raises(StreamError, match=message):
        until(lambda: source.poll(0.2))
    with admin(apache_kafka) as client:
        # Reading never creates a topic.
        assert (topic in client.list_topics()) is (change == "recreate")


def test_deleting_one_of_several_topics_names_it_and_stops_the_source(
    apache_kafka: Broker, make: Make, topic_name: Callable[[], str]
) -> None:
    kept, deleted = topic_name(), topic_name()
    for name in (kept, deleted):
        create(apache_kafka, name, 2)
    # Looks for stalls on every poll, which asks the ends of silent partitions, too.
    source = opened(make(kept, deleted, discovery_seconds=0.2, stall_seconds=0.3))
    delete(apache_kafka, deleted)
    with pytest.raises(StreamError, match=rf"{deleted}\[0\]: the partition no longer exists"):
        until(lambda: source.poll(0.2))


def test_a_partition_without_an_answer_is_not_deleted(
    apache_kafka: Broker, make: Make, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tp = filled(apache_kafka, topic, 3)
    source = opened(make(topic, discovery_seconds=0.2))
    assert source._session is not None
    # A client that knows no topic, as after an answer with an error for it.
    monkeypatch.setattr(source._session.manager.cluster, "partitions_for_topic", lambda _: None)
    assert values(drain(source, 3), tp) == [b"v0", b"v1", b"v2"]
    for _ in range(10):
        assert list(source.poll(0.1)) == []


def test_positions_that_are_not_configured_are_refused(apache_kafka: Broker, make: Make, topic: str) -> None:
    create(apache_kafka, topic, 2)
    with pytest.raises(ConfigError, match="configuration does not read it"):
        make(topic, partitions=[0]).open({TopicPartition(topic, 1): Position(0)})
    with pytest.raises(StreamError, match="partition no longer exists"):
        make(topic).open({TopicPartition(topic, 7): Position(0)})


# What comes and goes


def test_added_partitions_are_read_from_their_beginning(apache_kafka: Broker, make: Make, topic: str) -> None:
    create(apache_kafka, topic)
    source = opened(make(topic, start="latest", discovery_seconds=0.2))
    with admin(apache_kafka) as client:
        client.create_partitions({topic: 3})
    added = TopicPartition(topic, 2)
    until(lambda: _can_produce(apache_kafka, added), what="the new partition")
    assert values(drain(source, 1), added) == [b"v0"]
    assert set(source.status()) == {TopicPartition(topic, p) for p in range(3)}


def _can_produce(broker: Broker, partition: TopicPartition) -> bool:
    try:
        produce(broker, partition, numbered(1))
    except Exception:
        return False
    return True


def test_aborted_transactions_are_invisible_and_lag_reaches_zero(
    apache_kafka: Broker, make: Make, topic: str
) -> None:
    create(apache_kafka, topic)
    producer = KafkaProducer(bootstrap_servers=apache_kafka.server, transactional_id=topic)
    producer.init_transactions()
    for value, ending in ((b"a", "commit"), (b"b", "abort"), (b"c", "commit"), (b"d", "abort")):
        producer.begin_transaction()
        producer.send(topic, value=value, key=b"k")
        getattr(producer, f"{ending}_transaction")()
    producer.close()
    tp = TopicPartition(topic, 0)
    source = make(topic)
    start = source.start_positions()
    source.open(start)
    records = drain(source, 2)
    assert [r.value for r in records] == [b"a", b"c"]

    def lag() -> int | None:
        source.poll(0.1)
        return source.status()[tp].lag

    until(lambda: lag() == 0, what="lag 0")
    # The last record learned from lies before markers and an aborted record.
    again = opened(make(topic), positions_after(records, start))
    produce(apache_kafka, tp, numbered(1))
    assert [r.value for r in drain(again, 1)] == [b"v0"]


COMPACTED = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.01",
    "max.compaction.lag.ms": "1",
    # A segment that is written to is never compacted.
    "segment.ms": "1",
}


def test_a_compacted_topic_is_read_on_from_a_record_that_is_gone(
    apache_kafka: Broker, make: Make, topic: str
) -> None:
    create(apache_kafka, topic, **COMPACTED)
    tp = TopicPartition(topic, 0)
    produce(apache_kafka, tp, [(b"k%d" % (n % 2), b"v%d" % n, []) for n in range(10)])
    positions = learned(make(topic, max_poll_records=4), 4)
    until(lambda: _is_compacted(apache_kafka, make(topic), tp), 60, "the compaction")
    produce(apache_kafka, tp, [(b"k1", None, []), (b"end", b"end", [])])
    source = opened(make(topic), positions)
    seen = [(record.offset, record.value) for record in _read_to(source, b"end")]
    assert seen[:2] == [(8, b"v8"), (9, b"v9")]
    assert seen[-2][1] is None
    until(lambda: len(source.poll(0.1)) == 0 and source.status()[tp].lag == 0, what="lag 0")


def _is_compacted(broker: Broker, source: KafkaSource, partition: TopicPartition) -> bool:
    """Begin a new segment, and tell whether all but the last of the keys before are gone."""
    produce(broker, partition, [(b"roll", b"roll", [])])
    offsets_there = [record.offset for record in _read_to(opened(source), b"roll")]
    source.close()
    return offsets_there[0] == 8


def _read_to(source: KafkaSource, value: bytes) -> list[Any]:
    records: list[Any] = []

    def came() -> bool:
        records.extend(source.poll(0.2))
        return any(record.value == value for record in records)

    until(came, what=f"{value!r}")
    return records


def test_a_message_of_five_megabytes_passes(apache_kafka: Broker, make: Make, topic: str) -> None:
    create(apache_kafka, topic)
    large = bytes(5 << 20)
    produce(apache_kafka, TopicPartition(topic, 0), [(None, large, []), (None, b"small", [])])
    assert [r.value for r in drain(opened(make(topic)), 2)] == [large, b"small"]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_every_compression_is_read(apache_kafka: Broker, make: Make, topic: str, codec: str) -> None:
    create(apache_kafka, topic)
    produce(apache_kafka, TopicPartition(topic, 0), numbered(50), compression_type=codec)
    assert len(drain(opened(make(topic)), 50)) == 50


def test_a_batch_damaged_on_disk_is_named_after_everything_before_it(
    apache_kafka: Broker, kafka_node: ApacheKafka, make: Make, topic: str
) -> None:
    tp = filled(apache_kafka, topic, 3)
    produce(apache_kafka, tp, [(b"k", b"to be damaged", [])])
    _damage(kafka_node.log_dir / f"{topic}-0", b"to be damaged")
    restarts: list[str] = []
    source = opened(make(topic, on_restart=restarts.append))
    assert len(drain(source, 3)) == 3
    with pytest.raises(StreamError, match=r"\[0\]@3: .* cannot be read, tried 3 times"):
        until(lambda: source.poll(0.2))
    assert restarts == ["unreadable"] * 2


def _damage(folder: Path, found: bytes) -> None:
    (segment,) = folder.glob("*.log")
    with segment.open("r+b") as file:
        file.seek(file.read().index(found))
        file.write(b"X")


def test_a_partition_that_goes_silent_is_read_on_by_a_new_client(
    apache_kafka: Broker, make: Make, topic: str
) -> None:
    create(apache_kafka, topic, 2)
    restarts: list[str] = []
    source = opened(make(topic, stall_seconds=1.0, on_restart=restarts.append))
    silent, other = TopicPartition(topic, 0), TopicPartition(topic, 1)
    produce(apache_kafka, silent, numbered(3))
    drain(source, 3)
    # What a client does that has forgotten a partition, with all else alive.
    assert source._session is not None
    source._session.consumer.pause(KafkaPartition(*silent))
    produce(apache_kafka, silent, numbered(3, "later"))
    produce(apache_kafka, other, numbered(3, "other"))
    records = drain(source, 6)
    assert values(records, silent) == [b"later0", b"later1", b"later2"]
    assert values(records, other) == [b"other0", b"other1", b"other2"]
    assert restarts == ["stalled"]
    until(lambda: len(source.poll(0.2)) == 0 and source.status()[silent].lag == 0)
    assert restarts == ["stalled"]


def test_published_offsets_are_seen_by_lag_tools(apache_kafka: Broker, make: Make, topic: str) -> None:
    create(apache_kafka, topic)
    produce(apache_kafka, TopicPartition(topic, 0), numbered(3))
    source = make(topic, group_id=f"{topic}-group")
    source.commit(learned(source, 3))
    source.close()
    with admin(apache_kafka) as client:
        (offsets,) = client.list_group_offsets([f"{topic}-group"]).values()
    assert [at.offset for at in offsets.values()] == [3]


# Brokers that are away


def test_a_restarted_broker_costs_no_record(
    apache_kafka: Broker, kafka_node: ApacheKafka, make: Make, topic: str
) -> None:
    create(apache_kafka, topic)
    tp = TopicPartition(topic, 0)
    produce(apache_kafka, tp, numbered(3, "before"))
    source = opened(make(topic, silence_seconds=1.0))
    seen = values(drain(source, 3), tp)
    assert source.connected
    kafka_node.kill()
    until(lambda: len(source.poll(0.2)) == 0 and not source.connected, what="the loss of the connection")
    assert source.status()[tp].position == 3
    kafka_node.start()
    produce(apache_kafka, tp, numbered(3, "after"))
    seen += values(drain(source, 3), tp)
    assert seen == [b"before0", b"before1", b"before2", b"after0", b"after1", b"after2"]
    assert source.connected


def test_a_frozen_broker_is_noticed_and_closing_does_not_hang(
    apache_kafka: Broker, kafka_node: ApacheKafka, make: Make, topic: str
) -> None:
    create(apache_kafka, topic)
    source = opened(make(topic, silence_seconds=1.0, group_id=f"{topic}-group"))
    source.poll(0.1)
    kafka_node.freeze()
    source.commit({TopicPartition(topic, 0): Position(0)})
    assert source.status()[TopicPartition(topic, 0)].lag == 0
    until(lambda: len(source.poll(0.2)) == 0 and not source.connected, what="the silence")
    assert source.status()[TopicPartition(topic, 0)].lag is None
    began = time.monotonic()
    source.close()
    assert time.monotonic() - began < 3


def test_a_broker_that_is_away_at_the_start_is_waited_for_and_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = f"127.0.0.1:{free_ports(1)[0]}"
    source = KafkaSource({"bootstrap_servers": server}, ReadSettings(["t"], connect_timeout_seconds=2.5))
    with caplog.at_level(logging.INFO), pytest.raises(BrokerUnavailableError, match=f"{server}: no broker"):
        source.identity()
    assert [r.message for r in caplog.records if "waiting for a broker" in r.message] == [caplog.messages[0]]
    assert len(caplog.records) == 1
    assert not source.connected
    source.close()


def test_waiting_for_a_broker_ends_soon_when_the_program_stops() -> None:
    stop = threading.Event()
    server = f"127.0.0.1:{free_ports(1)[0]}"
    source = KafkaSource({"bootstrap_servers": server}, ReadSettings(["t"]), stopping=stop.is_set)
    threading.Timer(0.3, stop.set).start()
    began = time.monotonic()
    with pytest.raises(BrokerUnavailableError, match="stopped while waiting"):
        source.start_positions()
    assert time.monotonic() - began < 1.5
    assert not [t for t in threading.enumerate() if t.name.startswith("kafka-io") and server in t.name]


# Settings and permissions


def test_an_unknown_client_setting_is_named_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="'bootstrap_server'; did you mean 'bootstrap_servers'"):
        KafkaSource({"bootstrap_server": "x"}, ReadSettings(["t"]))


@pytest.mark.parametrize("key", ["value_deserializer", "auto_offset_reset", "group_id"])
def test_a_setting_that_is_ours_is_refused(key: str) -> None:
    with pytest.raises(ConfigError, match=f"'{key}' cannot be changed"):
        KafkaSource({key: "x"}, ReadSettings(["t"]))


def test_a_missing_tls_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'ssl_cafile': no such file: .*ca\.pem"):
        KafkaSource({"security_protocol": "SSL", "ssl_cafile": str(tmp_path / "ca.pem")}, ReadSettings(["t"]))


def test_a_setting_with_a_wrong_value_is_a_config_error(make: Make) -> None:
    with pytest.raises(ConfigError, match="isolation_level"):
        make("t", client={"isolation_level": "read_everything"}).identity()


def test_a_missing_topic_is_named_with_the_nearest_and_never_created(
    apache_kafka: Broker, make: Make, topic: str
) -> None:
    create(apache_kafka, topic)
    with pytest.raises(StreamError, match=f"no topic '{topic}s'; did you mean '{topic}'"):
        make(f"{topic}s").identity()
    with admin(apache_kafka) as client:
        assert f"{topic}s" not in client.list_topics()


def test_a_missing_partition_is_named(apache_kafka: Broker, make: Make, topic: str) -> None:
    create(apache_kafka, topic, 2)
    with pytest.raises(StreamError, match=r"\[5\]: no such partition, the topic has 2"):
        make(topic, partitions=[1, 5]).start_positions()


@pytest.mark.parametrize("password", ["right", "wrong"])
def test_credentials_are_passed_on_and_refusals_are_authentication_errors(
    apache_kafka: Broker, kafka_node: ApacheKafka, topic: str, password: str
) -> None:
    create(apache_kafka, topic)
    source = KafkaSource(sasl_client(kafka_node, password), ReadSettings([topic], connect_timeout_seconds=10))
    if password == "right":
        assert source.identity().cluster_id
    else:
        with pytest.raises(AuthenticationError, match="rejected the credentials"):
            source.identity()
    source.close()


def sasl_client(node: ApacheKafka, password: str) -> dict[str, object]:
    return {
        "bootstrap_servers": [node.sasl_server],
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "reader",
        "sasl_plain_password": password,
    }


def test_polling_a_source_that_is_not_open_is_an_error(make: Make) -> None:
    with pytest.raises(StreamError, match="not open"):
        make("t").poll(0)


def offsets(records: Sequence[Any]) -> list[int]:
    return [r.offset for r in records]


def test_one_poll_gives_no_more_than_asked_for(apache_kafka: Broker, make: Make, topic: str) -> None:
    create(apache_kafka, topic)
    produce(apache_kafka, TopicPartition(topic, 0), numbered(10))
    source = opened(make(topic, max_poll_records=4))
    polls = [offsets(until(lambda: source.poll(0.2))) for _ in range(3)]
    assert polls == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
