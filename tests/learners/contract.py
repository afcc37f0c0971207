"""What every learner must do; a test module says which learners there are."""

import numpy as np
import pytest

from streamlearn.checkpoint import codec
from streamlearn.data import Example
from tests.learners.build import MakeLearner, make_bench
from tests.learners.streams import TEMPLATES, cut, make_stream
from tests.states import differences


class LearnerContract:
    """The contract; `learner` is a fixture of the subclass that makes a learner for a feature space."""

    @pytest.fixture(params=["templates", "ready-made", "second order"])
    def kind(self, request: pytest.FixtureRequest) -> str:
        return request.param

    @pytest.fixture
    def ready_made(self, kind: str) -> bool:
        return kind == "ready-made"

    @pytest.fixture
    def stream(self, ready_made: bool) -> list[Example]:
        return make_stream(60, ready_made=ready_made)

    @pytest.fixture
    def bench(self, learner: MakeLearner, kind: str):
        templates = {"templates": TEMPLATES, "ready-made": [], "second order": [*TEMPLATES, "T"]}[kind]
        return lambda: make_bench(templates, learner=learner)

    def test_predicting_changes_no_bit_of_the_state(self, bench, stream):
        tagger = bench().tagger
        tagger.learn_many(stream[:30])
        before = tagger.state()
        first = tagger.predict_many(stream)
        assert tagger.predict_many(stream) == first
        assert tagger.predict_one(stream[-1]) == first[-1]
        assert differences(before, tagger.state()) == []

    def test_some_rows_of_the_weights_are_those_of_all_weights(self, bench, stream):
        made = bench()
        made.tagger.learn_many(stream)
        before = made.tagger.state()
        rows = [np.arange(0, used, 3, np.int32) for used in made.tagger.rows_used]
        some_of_each = made.tagger.weights_of(*rows)
        for some, whole, wanted in zip(some_of_each, made.learner.weights()[:2], rows, strict=True):
            assert np.array_equal(some, whole[wanted])
        assert differences(before, made.tagger.state()) == []

    def test_unknown_features_are_counted_by_sequence_however_they_come(self, bench, stream):
        many, one = bench().tagger, bench().tagger
        unknown = many.learn_batch(many.encode(stream).batch).unknown
        each = [one.learn_batch(one.encode([example]).batch).unknown[0] for example in stream]
        assert unknown.tolist() == each
        assert unknown.sum() == sum(many.rows_used) - 1
        assert many.learn_batch(many.encode(stream).batch).unknown.sum() == 0

    def test_predicting_between_does_not_change_what_is_learned(self, bench, stream):
        plain, asked = bench().tagger, bench().tagger
        for example in stream:
            plain.learn_many([example])
            asked.learn_many([example])
            asked.predict_one(stream[0])
        assert differences(plain.state(), asked.state()) == []

    def test_the_same_stream_gives_the_same_bits(self, bench, stream):
        one, two = bench().tagger, bench().tagger
        assert one.learn_many(stream) == two.learn_many(stream)
        assert differences(one.state(), two.state()) == []

    def test_learning_one_by_one_is_learning_many(self, bench, stream):
        many, one = bench().tagger, bench().tagger
        for example in stream:
            many.learn_many([example])
            unlabelled = Example(example.columns, None, example.features, example.id, example.weight)
            one.learn_one(unlabelled, example.labels)
        assert differences(many.state(), one.state()) == []

    def test_what_is_said_while_learning_is_what_prediction_would_have_said(self, bench, stream):
        tagger = bench().tagger
        for example in stream:
            said = tagger.predict_one(example) if tagger.labels else None
            assert tagger.learn_many([example]) == [said]

    @pytest.mark.parametrize("learned", [0, 1, 29])
    def test_a_restored_learner_goes_on_bit_for_bit(self, bench, stream, learned):
        uninterrupted = bench().tagger
        for batch in cut(stream, [learned, 7, 1]):
            uninterrupted.learn_many(batch)
        first = bench().tagger
        first.learn_many(stream[:learned])
        saved = b"".join(codec.encode(first.state()))
        resumed = bench().tagger
        resumed.restore(codec.decode(saved))
        assert differences(first.state(), resumed.state()) == []
        if learned:
            assert resumed.predict_many(stream) == first.predict_many(stream)
        assert resumed.gauges() == first.gauges()
        for batch in cut(stream[learned:], [7, 1]):
            resumed.learn_many(batch)
        assert differences(uninterrupted.state(), resumed.state()) == []

    def test_a_state_does_not_change_while_learning_goes_on(self, bench, stream):
        tagger = bench().tagger
        tagger.learn_many(stream[:20])
        state = tagger.state()
        saved = b"".join(codec.encode(state))
        tagger.learn_many(stream[20:])
        assert b"".join(codec.encode(state)) == saved

    def test_features_never_seen_are_labelled_all_the_same(self, bench, stream, ready_made):
        tagger = bench().tagger
        tagger.learn_many(stream)
        sizes = tagger.gauges()["features_known"]
        new = Example({}, None, [["?"], []]) if ready_made else Example({"w": ["?", "!"], "pos": ["?", "!"]})
        path = tagger.predict_one(new)
        assert len(path) == 2
        assert set(path) <= set(tagger.labels)
        assert tagger.gauges()["features_known"] == sizes

    def test_labels_that_appear_late_are_learned(self, bench, stream, ready_made):
        made = bench()
        made.tagger.learn_many(stream[:20])
        known = len(made.tagger.labels)
        late = [f"NEW{i}" for i in range(30)]
        x = Example({}, None, [["new"]]) if ready_made else Example({"w": ["new"], "pos": ["new"]})
        for label in late:
            made.tagger.learn_one(x, [label])
        for _ in range(80):
            made.tagger.learn_one(x, ["NEW7"])
        assert list(made.tagger.labels)[known:] == late
        assert made.tagger.predict_one(x) == ["NEW7"]
        n = known + 30
        node, edge, triple = made.learner.weights()[:3]
        assert (node.shape[1], edge.shape[1:]) == (n, (1 + n, n))
        assert triple.shape == (n if made.space.second_order else 0, 1 + n, n)

    def test_features_of_pairs_never_fire_with_a_label_alone(self, learner):
        made = make_bench(["U:%x[0,w]", "B:%x[0,pos]", "*:%x[-1,pos]"], learner=learner)
        made.tagger.learn_many(make_stream(30))
        alone = {key[0][0] for key in made.named(*made.learner.weights()) if len(key) == 2}
        assert alone == {"U", "*"}

    def test_a_batch_of_any_size_is_learned_one_by_one(self, bench, stream):
        whole, cut_up = bench().tagger, bench().tagger
        said = whole.learn_many(stream)
        parts = [cut_up.learn_many(batch) for batch in cut(stream, [1, 2, 3, 13, 1, 1])]
        assert [path for part in parts for path in part] == said
        one, other = whole.state(), cut_up.state()
        assert differences(one["learner"], other["learner"]) == []
