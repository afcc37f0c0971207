"""The tagger that a configuration asks for."""

import pytest

from streamlearn.app.build_tagger import build_tagger, warm_up
from streamlearn.config.load import load
from streamlearn.data import Example

# What comes next depends on two labels: each label follows the other half the time, and itself as often.
LABELS = ["a", "a", "b", "b"] * 4
EXAMPLE = Example({}, LABELS, [["first"]] + [["later"]] * (len(LABELS) - 1))


@pytest.mark.parametrize("columns", ["[]", "[w]"])
@pytest.mark.parametrize(("templates", "order"), [("B", 1), (r"B\nT", 2)])
def test_ready_made_features_have_the_transitions_that_templates_ask_for(tmp_path, templates, order, columns):
    path = tmp_path / "c.yaml"
    path.write_text(f'features: {{columns: {columns}, templates: "{templates}", max_features: 64}}')
    config = load(path, ["learner.kind=perceptron"])
    warm_up(config, lambda _: None)
    tagger = build_tagger(config)
    for _ in range(30):
        tagger.learn_many([EXAMPLE])
    assert (tagger.predict_one(EXAMPLE) == LABELS) == (order == 2)
