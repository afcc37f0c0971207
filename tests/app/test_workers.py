import os
import time

import pytest

from streamlearn.app.workers import spread
from streamlearn.errors import StreamlearnError


def with_process(shared: int, task: int) -> tuple[int, int]:
    return shared + task, os.getpid()


def die_at_two(_: None, task: int) -> int:
    if task == 2:
        os._exit(9)
    return task


def loud(_: None, task: int) -> int:
    print("this must not get between the results")
    return task


def tell_and_hang(_: None, task: int) -> int:
    if task:
        time.sleep(600)
    return os.getpid()


@pytest.mark.parametrize(("processes", "fresh"), [(1, False), (2, False), (2, True)])
def test_every_task_is_done_once_whatever_the_processes(processes: int, fresh: bool) -> None:
    found = list(spread(with_process, 10, range(4), processes, fresh))
    assert sorted((task, result[0]) for task, result in found) == [(0, 10), (1, 11), (2, 12), (3, 13)]
    pids = {result[1] for _, result in found}
    assert len(pids) == 4 if fresh else len(pids) <= processes
    assert (os.getpid() in pids) == (processes == 1)


def test_nothing_to_do_is_done_at_once() -> None:
    assert list(spread(with_process, 0, [], 2, fresh=True)) == []


def test_a_process_that_dies_is_told() -> None:
    with pytest.raises(StreamlearnError, match="exit code 9"):
        list(spread(die_at_two, None, range(4), 2))


def test_what_the_work_prints_is_no_result() -> None:
    assert sorted(spread(loud, None, [1, 2], 2)) == [(1, 1), (2, 2)]


def test_leaving_early_ends_processes_that_work_still() -> None:
    results = spread(tell_and_hang, None, [0, 1, 1], 2)
    _, pid = next(results)
    results.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
