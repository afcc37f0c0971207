"""Publishing offsets to the broker, for tools that show consumer lag."""

# The stubs of kafka-python leave these calls untyped.
# mypy: disable-error-code="no-untyped-call"

import logging
import time
from collections.abc import Callable, Mapping

from kafka import OffsetAndMetadata, errors
from kafka import TopicPartition as KafkaPartition
from kafka.consumer.subscription_state import SubscriptionState
from kafka.coordinator.consumer import ConsumerCoordinator
from kafka.net.compat import KafkaNetClient

from streamlearn.data import Position, TopicPartition
from streamlearn.stream.kafka.client_errors import reason
from streamlearn.stream.kafka.connection import ConnectionManager

log = logging.getLogger(__name__)

_CLOSE_MS = 2000
# A new cluster has no coordinator of groups for some seconds, and elections take a while.
_QUIET_SECONDS = 30.0
_RETRY_SECONDS = 5.0


class OffsetPublisher:
    """Commits offsets of a consumer group without joining it.

    The consumer itself has no group: with one, each poll would wait for the group's coordinator, and
    reading would depend on permissions and brokers that only monitoring needs.

    Parameters
    ----------
    clock : monotonic seconds.

    Attributes
    ----------
    refusal : the error if this group may not commit and never could, else None. Once a commit has succeeded,
        failures are only logged as a warning and learning continues: once, and not before transient ones have
        lasted for half a minute.
    """

    def __init__(
        self, manager: ConnectionManager, group_id: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._coordinator = ConsumerCoordinator(
            KafkaNetClient(net=manager.net, manager=manager),
            SubscriptionState(),
            group_id=group_id,
            enable_auto_commit=False,
            api_version=manager.broker_version,
        )
        self._offsets: dict[KafkaPartition, OffsetAndMetadata] = {}
        self._clock = clock
        self._failing_since: float | None = None
        self._retry_at = 0.0
        self._is_logged = False
        self._ever = False
        self.refusal: errors.KafkaError | None = None

    def publish(self, positions: Mapping[TopicPartition, Position]) -> None:
        """Commit in the background; neither waits nor raises."""
        offsets = {KafkaPartition(*tp): OffsetAndMetadata(at.next_offset) for tp, at in positions.items()}
        if not offsets:
            return
        self._offsets = offsets
        self._commit()

    def _commit(self) -> None:
        try:
            self._coordinator.commit_offsets_async(self._offsets, self._published)
        except errors.KafkaError as error:
            self._published(self._offsets, error)

    def follow(self) -> None:
        """Note the results of commits, and repeat one that failed; to be called after every poll."""
        # The client reports a result only with the next commit, which an idle stream does not have.
        self._coordinator._invoke_completed_offset_commit_callbacks()  # type: ignore[attr-defined]
        if self._failing_since is not None and self._clock() >= self._retry_at:
            self._retry_at = self._clock() + _RETRY_SECONDS
            self._commit()

    def close(self) -> None:
        """Wait up to two seconds for the last commit to be acknowledged."""
        if not self._offsets:
            return
        try:
            self._coordinator.commit_offsets_sync(self._offsets, _CLOSE_MS)
        except errors.KafkaError as error:
            self._published(self._offsets, error)

    def _published(self, _: object, response: object) -> None:
        if isinstance(response, errors.GroupAuthorizationFailedError) and not self._ever:
            self.refusal = response
            return
        if not isinstance(response, Exception):
            self._ever, self._failing_since, self._is_logged = True, None, False
            return
        now = self._clock()
        if self._failing_since is None:
            self._retry_at = now + _RETRY_SECONDS
        self._failing_since = now if self._failing_since is None else self._failing_since
        quiet = _QUIET_SECONDS if isinstance(response, errors.RetriableError) else 0.0
        if not self._is_logged and now - self._failing_since >= quiet:
            self._is_logged = True
            log.warning("cannot commit offsets for lag monitoring, learning continues: %s", reason(response))
