import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.data import Example
from tests import naive
from tests.learners.build import from_rows, make_bench

TEMPLATES = ["U00:%x[0,0]", "U01:%x[-1,0]/%x[1,1]", "U:%x[-1,0]", "U:%x[1,0]", "U:%x[0,1]", "U03",
             "*00:%x[0,0]", "B00:%x[-2,1]", "B"]  # fmt: skip
words = st.sampled_from(["a", "b", "_B-1", "a/b", "", "\x00", "\n", "😀"])
sentences = st.lists(st.tuples(words, words), min_size=1, max_size=5)


def encode(bench, *sentences):
    return bench.encoder.encode([from_rows(rows, ["O"] * len(rows)) for rows in sentences])[0]


def rows_of(bench, *sentences, grow=True):
    return bench.space.rows(encode(bench, *sentences), grow)


@settings(max_examples=60, deadline=None)
@given(corpus=st.lists(sentences, min_size=1, max_size=4))
def test_two_features_share_a_row_exactly_if_crf_plus_plus_expands_them_to_one_string(corpus):
    bench = make_bench(TEMPLATES)
    rows = rows_of(bench, *corpus)
    for kinds, found in (("U", rows.node_rows), ("*B", rows.edge_rows)):
        lines = [line for line in TEMPLATES if line[0] in kinds and line != "B"]
        strings = [naive.expand(line, sent, t) for sent in corpus for t in range(len(sent)) for line in lines]
        numbers = {}
        expected = [numbers.setdefault(text, len(numbers)) for text in strings]
        first = 0 if kinds == "U" else 1
        # A value may itself hold the text between two macros: CRF++ cannot tell such features apart, we can.
        if len(set(found.tolist())) == len(numbers):
            assert found.tolist() == [first + number for number in expected]
        else:
            assert any("a/b" in pair for sent in corpus for pair in sent)
        name = bench.space.node_name if kinds == "U" else bench.space.edge_name
        assert [name(row) for row in found.tolist()] == strings


def test_rows_say_where_each_position_begins_and_which_features_fire_alone():
    rows = rows_of(make_bench(TEMPLATES), [("a", "x"), ("b", "y")], [("a", "x")])
    assert rows.starts.tolist() == [0, 2, 3]
    assert rows.node_starts.tolist() == [0, 6, 12, 18]
    assert rows.edge_starts.tolist() == [0, 2, 4, 6]
    assert rows.edge_singles == 1
    assert rows.node_values.size == 0


def test_the_bag_of_words_idiom_gives_one_feature_wherever_the_word_stands():
    bench = make_bench(["U:%x[-1,0]", "U:%x[0,0]", "U:%x[1,0]"])
    rows = rows_of(bench, [("a", "x"), ("b", "x")])
    names = [bench.space.node_name(row) for row in rows.node_rows.tolist()]
    assert names == ["U:_B-1", "U:a", "U:b", "U:a", "U:b", "U:_B+1"]
    assert len(set(rows.node_rows.tolist())) == 4


def test_unknown_features_are_found_only_once_learned():
    bench = make_bench(["U:%x[0,0]", "*:%x[0,0]"])
    assert rows_of(bench, [("a", "x")], grow=False).node_rows.tolist() == [-1]
    rows_of(bench, [("a", "x")])
    seen = rows_of(bench, [("b", "x"), ("a", "x")], grow=False)
    assert (seen.node_rows.tolist(), seen.edge_rows.tolist()) == ([-1, 0], [-1, 1])
    assert bench.space.sizes == (1, 2)


def test_full_tables_refuse_and_count():
    bench = make_bench(["U:%x[0,0]", "*:%x[0,0]"], room=(2, 1))
    rows = rows_of(bench, [(word, "x") for word in "abcb"])
    assert rows.node_rows.tolist() == [0, 1, -1, 1]
    assert rows.edge_rows.tolist() == [1, -1, -1, -1]
    assert bench.space.sizes == (2, 2)
    assert bench.space.capacities == (2, 2)
    assert bench.space.refused == 1 + 3


def test_the_plain_transition_is_row_0_of_the_edges_and_learned_only_where_a_template_says_so():
    assert make_bench(["U:%x[0,0]", "B"]).space.edge_name(0) == "B"
    assert make_bench(["U:%x[0,0]", "B01"]).space.plain_edges
    assert make_bench([]).space.plain_edges
    assert not make_bench(["U:%x[0,0]", "*:%x[0,0]"]).space.plain_edges


@pytest.mark.parametrize("templates", [["U:%x[0,0]", "B", "T"], ["T01"]])
def test_triples_of_labels_are_learned_only_where_a_template_says_so_and_are_no_feature(templates):
    space = make_bench(templates).space
    assert space.second_order
    assert space.plain_edges == ("B" in templates)
    assert space.sizes == (0, 1)
    assert not make_bench(["U:%x[0,0]", "B"]).space.second_order
    assert not make_bench([]).space.second_order


def ready_made(*features):
    return Example({}, ["O"] * len(features), list(features))


@pytest.mark.parametrize("templates", [[], ["B"], ["U00", "B"]])
def test_ready_made_features_are_read_where_no_template_reads_a_column(templates):
    bench = make_bench(templates)
    batch = bench.encoder.encode([ready_made(["a", "b"], []), ready_made(["b"])])[0]
    rows = bench.space.rows(batch, grow=True)
    assert rows.node_rows.tolist() == [0, 1, 1]
    assert rows.node_starts.tolist() == [0, 2, 2, 3]
    assert [bench.space.node_name(row) for row in (0, 1)] == ["a", "b"]
    empty = bench.space.rows(bench.encoder.encode([ready_made([])])[0], grow=True)
    assert (empty.node_rows.size, empty.node_starts.tolist()) == (0, [0, 0])


def test_where_templates_read_columns_ready_made_features_beside_them_are_not_looked_at():
    bench = make_bench(["U:%x[0,0]"])
    both = Example({"w": ["a"], "pos": ["x"]}, ["O"], [{"f": 0.5}])
    rows = bench.space.rows(bench.encoder.encode([both, from_rows([("b", "x")], ["O"])])[0], grow=True)
    assert [bench.space.node_name(row) for row in rows.node_rows.tolist()] == ["U:a", "U:b"]
    assert rows.node_values.size == 0


def restored(bench, templates, **options):
    other = make_bench(templates, **options)
    other.space.restore(bench.space.state())
    return other


def test_names_and_rows_come_back_after_a_restore():
    bench = make_bench(TEMPLATES)
    rows = rows_of(bench, [("a\x00", "\n"), ("😀", "")])
    other = restored(bench, TEMPLATES)
    assert np.array_equal(rows_of(other, [("a\x00", "\n"), ("😀", "")], grow=False).node_rows, rows.node_rows)
    for row in range(bench.space.sizes[0]):
        assert other.space.node_name(row) == bench.space.node_name(row)
    for row in range(bench.space.sizes[1]):
        assert other.space.edge_name(row) == bench.space.edge_name(row)
    # Padding that no feature had used before.
    later = rows_of(other, [("z", "z")])
    assert "U01:_B-1/_B+1" in {other.space.node_name(row) for row in later.node_rows.tolist()}


def test_without_names_features_are_shown_by_their_keys():
    bench = make_bench(["U:%x[0,0]"], names=0)
    row = int(rows_of(bench, [("a", "x")]).node_rows[0])
    key = int(bench.space.state()["node"]["keys"][0])
    assert bench.space.node_name(row) == f"#{key:016x}"


@pytest.mark.parametrize("templates", [["U:%x[0,0]"], []])
def test_features_learned_before_names_were_kept_are_shown_by_their_keys(templates):
    bench = make_bench(templates, names=0)
    example = from_rows([("a", "x")], ["O"]) if templates else ready_made(["a"])
    bench.space.rows(bench.encoder.encode([example])[0], grow=True)
    other = restored(bench, templates)
    key = int(bench.space.state()["node"]["keys"][0])
    assert other.space.node_name(0) == f"#{key:016x}"
    other.space.state()


def test_names_follow_their_templates_when_these_are_changed_under_learned_features():
    bench = make_bench(["U0:%x[0,0]", "U1:%x[0,1]/%x[0,0]", "U2:%x[0,1]"])
    rows_of(bench, [("a", "x")])
    other = restored(bench, ["U9:%x[0,0]", "U2:%x[0,1]", "U1:%x[0,1]/%x[0,0]", "U3:%x[0,0]%x[0,0]%x[0,0]"])
    names = [other.space.node_name(row) for row in range(3)]
    assert names[1:] == ["U1:x/a", "U2:x"]
    assert names[0].startswith("#")
    fewer = restored(bench, ["U2:%x[0,1]"])
    assert fewer.space.node_name(2) == "U2:x"


CODE = """
import json
from tests.features.test_space import TEMPLATES, rows_of
from tests.learners.build import make_bench
bench = make_bench(TEMPLATES)
rows_of(bench, [("the", "DT"), ("caf\\u00e9", "NN")])
state = bench.space.state()
print(json.dumps([state["node"]["keys"].tolist(), state["edge"]["keys"].tolist()]))
"""


def test_keys_are_the_same_in_every_process():
    found = {
        subprocess.run(
            [sys.executable, "-c", CODE],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    bench = make_bench(TEMPLATES)
    rows_of(bench, [("the", "DT"), ("café", "NN")])
    state = bench.space.state()
    [text] = found
    assert json.loads(text) == [state["node"]["keys"].tolist(), state["edge"]["keys"].tolist()]


def test_no_rows_of_pairs_are_reserved_that_no_template_can_ask_for():
    assert make_bench(["U:%x[0,0]", "B"], room=(5, 7)).space.capacities == (5, 1)
    assert make_bench(["U:%x[0,0]", "*:%x[0,0]"], room=(5, 7)).space.capacities == (5, 8)
