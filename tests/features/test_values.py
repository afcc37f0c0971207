import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.features.encoder import AttributeIds
from streamlearn.features.values import NameBook, ValueIds, stable_id
from streamlearn.features.views import View

VIEWS = [View("w"), View("w", ("lower",)), View("w", ("suffix1",))]
# Few enough to repeat, and some of those that break what splits or ends strings.
texts = st.sampled_from(["a", "A", "b", "c", "", "\x00", "a\nb", "é", "e\u0301", "😀", "_B-1"]) | st.text(
    max_size=3
)


def test_ids_never_change():
    # Ids are in checkpoints.
    assert stable_id("") == 0x2D06800538D394C2
    assert stable_id("the") == 0xCB1283631CF33D7D
    assert stable_id("東京😀") == 0x3E172EB901E318F2


def test_text_that_looks_alike_has_ids_of_its_own():
    alike = ["é", "e\u0301", "e", "E", "е", "a\x00", "a", "a ", "", "\x00"]
    assert len({stable_id(text) for text in alike}) == len(alike)


@settings(deadline=None)
@given(batches=st.lists(st.lists(texts, max_size=12), max_size=6), capacity=st.integers(1, 6))
def test_a_tiny_cache_gives_the_ids_of_a_boundless_one_and_stays_bounded(batches, capacity):
    ids = ValueIds(VIEWS, capacity)
    for values in batches:
        wanted = [[stable_id(view(value)) for view in VIEWS] for value in values]
        assert ids.lookup(values)[0].tolist() == wanted
        assert len(ids) <= capacity
    assert ids.ids.shape == (capacity, 3)


class Derived(View):
    """A view that records what it was asked for."""

    def __call__(self, value):
        asked.append(value)
        return value


asked: list[str] = []


def test_a_cache_forgets_nothing_while_there_is_room():
    asked.clear()
    ids = ValueIds([Derived("w")], 9)
    for value in "abcdefghh":
        ids.lookup([value])
    for value in "hgfedcba":
        ids.lookup([value])
    assert asked == list("abcdefgh")
    assert len(ids) == 8
    ids.lookup(["i", "j"])
    assert len(ids) == 2
    ids.lookup(["a", "j"])
    assert asked == [*"abcdefgh", "i", "j", "a"]


@given(values=st.lists(st.text(max_size=20) | st.sampled_from(["\x1f", "a\x1f", "\x1f\x1f", ""])))
def test_values_may_hold_what_separates_them(values):
    ids = ValueIds([View("w")], 50)
    assert ids.lookup(values)[0].tolist() == [[stable_id(value)] for value in values]


@given(names=st.lists(texts, max_size=30), capacity=st.integers(0, 4))
def test_ids_of_ready_made_features_are_bounded_too(names, capacity):
    ids = AttributeIds(capacity, NameBook(0))
    for name in names:
        assert ids[name] == stable_id(name)
        assert len(ids) <= max(capacity, 1)


@given(names=st.lists(texts, max_size=20))
def test_names_come_back_after_a_restore(names):
    book = NameBook(100)
    for name in names:
        book.add(stable_id(name), name)
    restored = NameBook(100)
    restored.restore(book.state(len(book)))
    assert [restored.get(stable_id(name)) for name in names] == names
    assert len(restored) == len(book) == len(set(names))


def test_a_book_of_names_gives_what_it_had_at_first():
    book = NameBook(10)
    for name in "abc":
        book.add(stable_id(name), name)
    restored = NameBook(10)
    restored.restore(book.state(2))
    assert [restored.get(stable_id(name)) for name in "ab"] == ["a", "b"]
    assert restored.get(stable_id("c")) == f"#{stable_id('c'):016x}"


def test_a_full_book_keeps_the_first_names_and_shows_ids_for_others():
    book = NameBook(2)
    for name in ["", "b", "c", "b"]:
        book.add(stable_id(name), name)
    assert [book.get(stable_id(name)) for name in ("", "b")] == ["", "b"]
    assert book.get(stable_id("c")) == f"#{stable_id('c'):016x}"
    assert book.get(5) == "#0000000000000005"


def test_a_book_without_room_keeps_nothing():
    book = NameBook(0)
    book.add(1, "a")
    assert not book.keeps
    assert len(book) == 0
    state = book.state(0)
    assert state["text"].dtype == np.uint8
    assert (state["text"].size, state["lengths"].size) == (0, 0)
    book.restore(state)
    assert book.get(1) == "#0000000000000001"
