"""What was survived, and what became of the records."""

import json
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Report:
    """Figures of a soak.

    Attributes
    ----------
    faults : how often each was done.
    kills : SIGKILLs of the daemon.
    leader_changes : elections of leaders of the topic's partitions, by their epochs.
    removed : records that retention removed before they were read, which the daemon has to tell.
    """

    faults: Counter[str] = field(default_factory=Counter)
    minutes: float = 0.0
    kills: int = 0
    leader_changes: int = 0
    aborted_transactions: int = 0
    records: int = 0
    applied: int = 0
    lost: int = 0
    doubled: int = 0
    partitions_out_of_order: int = 0
    removed: int = 0
    removed_untold: int = 0
    bad_records: int = 0
    bad_records_without_letter: int = 0

    @property
    def is_fine(self) -> bool:
        """Whether nothing was lost and nothing was applied twice."""
        wrong = (
            self.lost,
            self.doubled,
            self.partitions_out_of_order,
            self.removed_untold,
            self.bad_records_without_letter,
        )
        return not any(wrong) and self.applied == self.records > 0

    def __str__(self) -> str:
        """Return it as JSON."""
        return json.dumps(vars(self))
