"""Which partitions of which topics are read."""

from collections.abc import Collection, Iterable, Mapping

from streamlearn.data import Position, TopicPartition
from streamlearn.errors import ConfigError, StreamError
from streamlearn.stream.kafka.metadata import Cluster


def to_assign(cluster: Cluster, partitions: Collection[int] | None) -> list[TopicPartition]:
    """Return the partitions to read, sorted.

    Parameters
    ----------
    partitions : of each topic; None for all.

    Raises
    ------
    StreamError : one of them does not exist.
    """
    for name, topic in cluster.topics.items():
        absent = sorted(set(partitions or ()) - topic.partitions)
        if absent:
            count = len(topic.partitions)
            raise StreamError(
                f"{name}[{absent[0]}]: no such partition, the topic has {count}; see source.partitions"
            )
    return sorted(
        TopicPartition(name, partition)
        for name, topic in cluster.topics.items()
        for partition in (topic.partitions if partitions is None else partitions)
    )


def require_covered(
    positions: Mapping[TopicPartition, Position],
    assigned: Iterable[TopicPartition],
    whole_topics: Collection[str],
) -> None:
    """Return if every partition with a position is read.

    Parameters
    ----------
    whole_topics : the topics of which all partitions are read.

    Raises
    ------
    StreamError, ConfigError
    """
    for topic, partition in sorted(positions.keys() - set(assigned)):
        if topic in whole_topics:
            raise StreamError(
                f"{topic}[{partition}]: the partition no longer exists: the topic was recreated"
            )
        raise ConfigError(
            f"{topic}[{partition}]: the checkpoint has learned from it, but the configuration does "
            "not read it; add it to source.topics and source.partitions"
        )
