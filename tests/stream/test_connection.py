"""Connecting while some of the configured brokers are down."""

from kafka.net.selector import NetworkSelector

from streamlearn.stream.kafka.connection import BrokerWait, ConnectionManager


def test_a_broker_that_is_down_is_not_waited_for_while_there_are_others() -> None:
    servers = ["localhost:1", "localhost:2"]
    manager = ConnectionManager(NetworkSelector(), BrokerWait("b"), bootstrap_servers=servers)
    first, second = manager.cluster.bootstrap_brokers()
    manager.update_backoff(first.node_id)
    assert manager.cluster.bootstrap_brokers() == [second]
    manager.update_backoff(second.node_id)
    assert manager.cluster.bootstrap_brokers() == [first, second]
