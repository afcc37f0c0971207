"""Which configurations may continue a checkpoint."""

from pathlib import Path

import pytest

from streamlearn.app.compatibility import require_same_model
from streamlearn.checkpoint.location import open_checkpoint
from streamlearn.config.load import load
from streamlearn.errors import ConfigError
from tests.cli.command import save_state
from tests.sequences import make_examples, write_config


@pytest.mark.parametrize("key", ["max_features", "max_edge_features"])
def test_a_full_table_can_be_continued_and_a_smaller_one_is_refused(tmp_path: Path, key: str) -> None:
    config = write_config(tmp_path / "config.yaml")
    full = [f"features.{key}=5"]
    loaded = open_checkpoint(str(save_state(config, make_examples(20), tmp_path / "state", full)))
    require_same_model(loaded, load(config, full))
    with pytest.raises(ConfigError, match=f"features.{key} is 4, wanted 5 or more"):
        require_same_model(loaded, load(config, [f"features.{key}=4"]))
