"""A state in an object store: one owner at a time, whatever dies, hangs or races."""

import contextlib
import io
import os
import sys
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from streamlearn.checkpoint.location import open_store
from streamlearn.checkpoint.objects import Objects
from streamlearn.checkpoint.remote import STEPS
from streamlearn.checkpoint.writer import BackgroundWriter
from streamlearn.errors import CheckpointError, ConfigError, StateLockedError
from tests.checkpoint.build import assert_same_checkpoint, make_checkpoint
from tests.checkpoint.kill import save_and_be_killed
from tests.checkpoint.places import Bucket


@pytest.fixture(params=["memory", "s3"])
def bucket(request):
    if request.param == "memory":
        return Bucket(f"memory://{uuid.uuid4()}/state")
    return Bucket(request.getfixturevalue("s3"))


@pytest.fixture
def memory():
    return Bucket(f"memory://{uuid.uuid4()}/state")


def newest_seq(bucket):
    loaded = bucket.store().newest()
    return loaded.checkpoint.seq if loaded else None


@pytest.mark.parametrize("saves", [0, 5])
def test_a_daemon_that_was_taken_over_can_make_no_checkpoint_the_newest(bucket, saves):
    old, new = bucket.store(), bucket.store()
    with old.lock():
        old.save(make_checkpoint(1))
        with new.lock():
            # After five, the number that the old one would create next is free again.
            for seq in range(100, 100 + saves):
                new.save(make_checkpoint(seq))
            before = newest_seq(bucket)
            for _ in range(2):
                with pytest.raises(StateLockedError, match=f"taken over by pid {os.getpid()} on .*CURRENT"):
                    old.save(make_checkpoint(2))
                assert newest_seq(bucket) == before
            new.save(make_checkpoint(200))
            assert newest_seq(bucket) == 200
            assert 2 not in [checkpoint.seq for checkpoint in new.checkpoints()]


def test_learning_stops_where_another_daemon_has_taken_over(memory):
    old = memory.store()
    with old.lock(), memory.store().lock():
        writer = BackgroundWriter(old)
        writer.submit(make_checkpoint(1))
        (outcome,) = writer.drain(10)
        writer.close(10)
    assert isinstance(outcome.fatal, StateLockedError)
    assert outcome.fatal.exit_code == 75


def test_whoever_is_taken_over_while_it_prunes_removes_nothing_of_its_successor(memory):
    def be_taken_over(step):
        if step == "prune" and not successor:
            successor.append(memory.store())
            lock.enter_context(successor[0].lock())
            successor[0].save(make_checkpoint(50))

    successor = []
    old = memory.store(on_step=be_taken_over)
    with contextlib.ExitStack() as lock, old.lock():
        old.save(make_checkpoint(1))
        loaded = successor[0].load_newest()
        assert (loaded.checkpoint.seq, loaded.corrupt) == (50, 0)


class Torn(Objects):
    """Loses the end of what it writes."""

    @contextlib.contextmanager
    def open_new(self, name):
        lost = io.BytesIO()
        yield lost
        with super().open_new(name) as file:
            file.write(self.tear(lost.getvalue()))


@pytest.mark.parametrize("tear", [lambda data: data[:-1], lambda data: data[:-30] + bytes(30), lambda _: b""])
def test_an_object_that_is_not_what_was_written_never_becomes_the_newest(memory, tear):
    store = memory.store()
    with store.lock():
        store.save(make_checkpoint(1))
        store._objects = Torn(memory.location)
        store._objects.tear = tear
        with pytest.raises(CheckpointError, match=r"truncated|differs from what was written|too few"):
            store.save(make_checkpoint(2))
        assert newest_seq(memory) == 1
        store._objects = memory.objects
        store.save(make_checkpoint(3))
        assert len(memory.objects.names()) == 2


class Simultaneous(Objects):
    """Creates numbers of CURRENT at the same time as others."""

    barrier = threading.Barrier(2)

    def create(self, name, content):
        if name.startswith("CURRENT/"):
            self.barrier.wait(10)
        return super().create(name, content)


def outcome_of(what):
    try:
        what()
    except StateLockedError:
        return "refused"
    return "done"


def at_the_same_time(*deeds):
    with ThreadPoolExecutor(len(deeds)) as threads:
        return list(threads.map(outcome_of, deeds))


def take(store):
    with store.lock():
        pass


def test_of_two_daemons_that_start_at_the_same_time_one_wins(bucket):
    for _ in range(3):
        one, two = (bucket.store(objects=Simultaneous(bucket.location)) for _ in range(2))
        assert sorted(at_the_same_time(lambda: take(one), lambda: take(two))) == ["done", "refused"]  # noqa: B023


@pytest.mark.parametrize("seq", [1, 2, 3])
def test_of_two_daemons_that_save_and_take_over_at_the_same_time_one_wins(bucket, seq):
    first, second = bucket.store(), bucket.store(objects=Simultaneous(bucket.location))
    with first.lock():
        first._objects = Simultaneous(bucket.location)
        saved, taken = at_the_same_time(lambda: first.save(make_checkpoint(seq)), lambda: take(second))
    assert sorted([saved, taken]) == ["done", "refused"]
    assert newest_seq(bucket) == (seq if saved == "done" else None)


def save(bucket, checkpoint, on_step=lambda _: None):
    store = Bucket(bucket.location).store(on_step=on_step)
    with store.lock():
        store.load_newest()
        store.save(checkpoint)


def test_a_kill_at_any_step_leaves_the_old_or_the_new_state_and_no_litter(s3):
    bucket, steps = Bucket(s3), []
    save(bucket, make_checkpoint(0), steps.append)
    assert tuple(dict.fromkeys(steps)) == STEPS
    for number, step in enumerate(STEPS):
        seq = 10 * (number + 1)
        save_and_be_killed(partial(save, bucket, make_checkpoint(seq)), steps.index(step))
        loaded = bucket.store().newest()
        is_there = STEPS.index(step) > STEPS.index("point")
        assert loaded.corrupt == 0
        assert_same_checkpoint(
            loaded.checkpoint, make_checkpoint(seq if is_there else seq - 10 + bool(number))
        )
        save(bucket, make_checkpoint(seq + 1))
        assert newest_seq(bucket) == seq + 1
        objects = [name for name in bucket.objects.names() if name.startswith("checkpoint-")]
        assert len(objects) == len(bucket.store().checkpoints()) <= 3
        assert len(bucket.objects.names("CURRENT/")) == 3


def test_an_object_that_is_named_by_no_pointer_is_no_checkpoint(bucket):
    store = bucket.store()
    with store.lock():
        store.save(make_checkpoint(1))
    content = bucket.content()
    name = next(name for name in content if name.startswith("checkpoint-"))
    stray = name.replace(f"{1:020d}", f"{9:020d}")
    with bucket.objects.open_new(stray) as file:
        file.write(content[name])
    assert newest_seq(bucket) == 1
    with store.lock():
        assert store.load_newest().checkpoint.seq == 1
        store.save(make_checkpoint(2))
    assert stray not in bucket.objects.names()


class Forgetful(Objects):
    """Writes numbers of CURRENT, and says that it did not."""

    def create(self, name, content):
        super().create(name, content)
        if name.startswith("CURRENT/"):
            raise CheckpointError("the connection was lost")
        return True


def test_a_save_whose_answer_is_lost_is_found_to_have_come_through(bucket):
    store = bucket.store()
    with store.lock():
        store._objects = Forgetful(bucket.location)
        store.save(make_checkpoint(1))
        assert newest_seq(bucket) == 1


class Late(Objects):
    """Writes numbers of CURRENT when everybody thinks that it has failed."""

    def create(self, name, content):
        self.late = (name, content)
        raise CheckpointError("timed out")


def test_a_save_that_comes_through_late_is_taken_up_by_the_next(bucket):
    store = bucket.store()
    with store.lock():
        store.save(make_checkpoint(1))
        late = store._objects = Late(bucket.location)
        with pytest.raises(CheckpointError, match="timed out"):
            store.save(make_checkpoint(2))
        assert newest_seq(bucket) == 1
        store._objects = bucket.objects
        bucket.objects.create(*late.late)
        store.save(make_checkpoint(3))
        assert [checkpoint.seq for checkpoint in store.checkpoints()] == [1, 2, 3]
        assert newest_seq(bucket) == 3


def test_a_save_that_comes_through_after_the_next_does_not_undo_it(bucket):
    store = bucket.store()
    with store.lock():
        late = store._objects = Late(bucket.location)
        with pytest.raises(CheckpointError, match="timed out"):
            store.save(make_checkpoint(1))
        store._objects = bucket.objects
        store.save(make_checkpoint(2))
        assert not bucket.objects.create(*late.late)
        assert [checkpoint.seq for checkpoint in store.checkpoints()] == [2]


class Unconditional(Objects):
    """Replaces objects instead of only creating them, as servers do that ignore the condition."""

    def create(self, name, content):
        self._fs.pipe_file(self._path(name), content)
        return True


def test_a_store_without_conditional_writes_is_refused_and_not_touched(bucket):
    store = bucket.store(objects=Unconditional(bucket.location))
    with pytest.raises(ConfigError, match="overwrite each other's state; wanted a store that supports"):
        store.probe()
    with pytest.raises(ConfigError, match="overwrite each other's state"):
        take(store)
    assert bucket.content() == {}


class Stale(Objects):
    """Lists what was there some time ago."""

    def names(self, folder=""):
        return super().names(folder)[:-1]


def test_a_store_that_does_not_list_what_was_written_is_refused(memory):
    with pytest.raises(CheckpointError, match="was written but cannot be read"):
        take(memory.store(objects=Stale(memory.location)))


def test_checkpoints_without_a_pointer_are_not_taken_for_a_first_start(bucket):
    store = bucket.store()
    with store.lock():
        store.save(make_checkpoint(1))
    for pointer in bucket.objects.names("CURRENT/"):
        bucket.objects.delete(pointer)
    with (
        pytest.raises(CheckpointError, match="1 checkpoints but no CURRENT/; restore it"),
        store.lock(),
    ):
        pass


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": 1}', b'{"format": 9, "entries": []}'])
def test_a_pointer_that_is_damaged_or_of_another_release_refuses(memory, content):
    memory.objects.create(f"CURRENT/{5:020d}", content)
    with (
        pytest.raises(CheckpointError, match=r"CURRENT/0+5: (damaged|written by another release)"),
        memory.store().lock(),
    ):
        pass


@pytest.mark.usefixtures("s3_server")
def test_without_its_bucket_it_says_so():
    store = open_store("s3://no-such-bucket/ner")
    with pytest.raises(CheckpointError, match=r"s3://no-such-bucket/ner/probe-.*bucket does not exist"):
        store.probe()


def test_while_the_store_does_not_answer_learning_goes_on_and_the_next_save_succeeds(s3, s3_server):
    store = Bucket(s3).store()
    with store.lock():
        writer = BackgroundWriter(store)
        s3_server.stop()
        try:
            writer.submit(make_checkpoint(1))
            (failed,) = writer.drain(60)
        finally:
            s3_server.start()
        writer.submit(make_checkpoint(2))
        (written,) = writer.drain(60)
        writer.close(10)
    assert (failed.outcome, failed.fatal) == ("failed", None)
    assert f"{s3}/checkpoint-" in failed.message
    assert "secret" not in failed.message
    assert (written.outcome, written.disk_free_bytes) == ("written", None)
    assert newest_seq(Bucket(s3)) == 2


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://host/path", r"ftp://.*has no conditional writes, .*wanted a directory, or a URL of s3, "),
        ("file:///tmp/state", "wanted a directory"),
        ("s3://key:secret@bucket/ner", r"^s3://…@…: credentials in the URL are not supported"),
    ],
)
def test_other_urls_are_refused(url, message):
    with pytest.raises(ConfigError, match=message) as refused:
        open_store(url)
    assert "secret" not in str(refused.value)


def test_without_the_extra_a_url_is_refused_by_its_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ConfigError, match=r"pip install 'streamlearn\[remote\]'"):
        open_store("s3://bucket/ner")
