import threading
import time

import pytest

from streamlearn.data import TopicPartition
from streamlearn.errors import (
    AuthenticationError,
    BrokerUnavailableError,
    ConfigError,
    StreamError,
    StreamlearnError,
)
from streamlearn.stream.kafka.consumer import KafkaSource
from streamlearn.stream.kafka.producer import KafkaSink, create_topic
from streamlearn.stream.kafka.read_settings import ReadSettings
from tests.conftest import Broker
from tests.kafka.broker import ApacheKafka, free_ports
from tests.kafka.topics import admin
from tests.stream.source_contract import drain
from tests.stream.test_kafka_source import sasl_client
from tests.waiting import until

pytestmark = pytest.mark.apache


def test_what_is_sent_arrives_with_keys_and_headers_and_is_counted(apache_kafka: Broker, topic: str) -> None:
    assert create_topic(apache_kafka.client, topic, 2)
    sink = KafkaSink(apache_kafka.client, topic)
    for i in range(200):
        sink.send(b"k%d" % (i % 5), b"v%d" % i, [("n", b"%d" % i)])
    sink.send(b"gone", None)
    sink.send(None, None)
    sink.flush()
    assert (sink.delivered, sink.failed, sink.first_error) == (202, 0, None)
    sink.close()
    sink.close()
    source = KafkaSource(apache_kafka.client, ReadSettings([topic]))
    source.open(source.start_positions())
    records = drain(source, 202)
    source.close()
    for key in (b"k%d" % k for k in range(5)):
        own = [r for r in records if r.key == key]
        assert len({r.partition for r in own}) == 1
        assert [int(r.value[1:]) for r in own] == sorted(int(r.headers[0][1]) for r in own)


def test_creating_a_topic_that_exists_says_so(apache_kafka: Broker, topic: str) -> None:
    assert create_topic(apache_kafka.client, topic, 3)
    assert not create_topic(apache_kafka.client, topic, 1)
    with admin(apache_kafka) as client:
        (described,) = client.describe_topics([topic])
    assert len(described["partitions"]) == 3


def test_a_topic_name_that_kafka_refuses_is_an_error_of_ours(apache_kafka: Broker) -> None:
    with pytest.raises(ConfigError, match="not a valid topic name"):
        create_topic(apache_kafka.client, "no spaces")


def test_a_missing_topic_is_named_at_once_and_not_created(apache_kafka: Broker, topic: str) -> None:
    with pytest.raises(StreamError, match=f"no topic '{topic}'"):
        KafkaSink(apache_kafka.client, topic)
    with admin(apache_kafka) as client:
        assert topic not in client.list_topics()


def test_a_record_too_large_for_the_broker_is_counted_and_the_others_arrive(
    apache_kafka: Broker, topic: str
) -> None:
    create_topic(apache_kafka.client, topic)
    sink = KafkaSink(apache_kafka.client, topic)
    sink.send(b"k", b"before")
    sink.flush()
    sink.send(b"k", bytes(25 << 20))
    sink.flush()
    sink.send(b"k", b"after")
    sink.flush()
    assert (sink.delivered, sink.failed) == (2, 1)
    assert "TooLarge" in str(sink.first_error)
    sink.close()


def test_memory_is_bounded_and_a_stop_ends_the_wait_while_the_broker_is_away(
    apache_kafka: Broker, kafka_node: ApacheKafka, topic: str
) -> None:
    create_topic(apache_kafka.client, topic)
    stop = threading.Event()
    sink = KafkaSink(apache_kafka.client, topic, max_in_flight_bytes=10_000, stopping=stop.is_set)
    kafka_node.freeze()
    threading.Timer(0.5, stop.set).start()
    for _ in range(10):
        sink.send(None, bytes(900))
    with pytest.raises(BrokerUnavailableError, match="stopped while a record was waiting"):
        sink.send(None, bytes(900))
    with pytest.raises(BrokerUnavailableError, match=r"10000 bytes .* not acknowledged"):
        sink.flush(0.3)
    kafka_node.thaw()
    sink.flush(20)
    assert sink.delivered == 10
    sink.close()


def test_closing_gives_up_what_no_broker_takes_and_leaves_no_thread(
    apache_kafka: Broker, kafka_node: ApacheKafka, topic: str
) -> None:
    create_topic(apache_kafka.client, topic)
    sink = KafkaSink(apache_kafka.client, topic)
    sender = sink._producer._sender  # type: ignore[attr-defined]
    told: list[StreamlearnError | None] = []
    kafka_node.freeze()
    sink.send(None, b"never", done=told.append)
    sink.close(0.2)
    assert len(told) == 1
    assert told[0] is not None
    until(lambda: not sender.is_alive(), what="the end of the thread")


def test_no_broker_at_the_start_ends_the_wait_after_the_timeout() -> None:
    client = {"bootstrap_servers": f"127.0.0.1:{free_ports(1)[0]}"}
    began = time.monotonic()
    with pytest.raises(BrokerUnavailableError):
        KafkaSink(client, "t", connect_timeout_seconds=0.5)
    assert time.monotonic() - began < 3


def test_wrong_credentials_are_an_authentication_error(kafka_node: ApacheKafka) -> None:
    with pytest.raises(AuthenticationError):
        KafkaSink(sasl_client(kafka_node, "wrong"), "t")


def test_settings_of_other_clients_are_left_out_and_unknown_ones_named(
    apache_kafka: Broker, topic: str
) -> None:
    create_topic(apache_kafka.client, topic)
    KafkaSink(apache_kafka.client | {"fetch_max_wait_ms": 100, "compression_type": "zstd"}, topic).close()
    with pytest.raises(ConfigError, match="'linger'; did you mean 'linger_ms'"):
        KafkaSink(apache_kafka.client | {"linger": 1}, topic)


def test_a_topic_of_the_sink_is_what_a_source_reads(embedded_broker: Broker, topic: str) -> None:
    create_topic(embedded_broker.client, topic)
    sink = KafkaSink(embedded_broker.client, topic)
    sink.send(b"k", b"v")
    sink.flush()
    sink.close()
    source = KafkaSource(embedded_broker.client, ReadSettings([topic]))
    source.open(source.start_positions())
    (record,) = drain(source, 1)
    assert TopicPartition(record.topic, record.partition) == (topic, 0)
    source.close()
