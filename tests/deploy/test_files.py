"""What can be said of images, services and units without running them."""

import configparser
import re
import shutil
import subprocess

import pytest
import yaml

from streamlearn import errors
from streamlearn.app.build_tagger import build_tagger
from streamlearn.app.drift_watch import build_watch
from streamlearn.app.evaluate import Evaluation
from streamlearn.cli.main import app
from streamlearn.config.load import load
from tests.deploy.dashboards import DEPLOY

UNIT = DEPLOY / "systemd" / "streamlearn@.service"
COMPOSE = yaml.safe_load((DEPLOY / "docker-compose.yaml").read_text())
SERVICES = COMPOSE["services"]


def unit():
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read(UNIT)
    return parser["Service"]


def test_the_unit_is_told_by_the_daemon_and_gives_it_time_to_save():
    service = unit()
    assert service["Type"] == "notify"
    assert int(service["WatchdogSec"]) >= 60
    assert int(service["TimeoutStopSec"]) >= 120
    assert service["RestartPreventExitStatus"].split() == [
        str(errors.StateLockedError.exit_code),
        str(errors.ConfigError.exit_code),
    ]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is absent")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path):
    # All but the path of the program, which is not installed here, and the user.
    text = UNIT.read_text().replace("/opt/streamlearn/bin/streamlearn", "/bin/true")
    (tmp_path / UNIT.name).write_text(text)
    command = ["systemd-analyze", "verify", str(tmp_path / UNIT.name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_services_mount_what_is_there():
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (DEPLOY / source).exists() if source.startswith(".") else source in COMPOSE["volumes"]
        assert set(service.get("depends_on", [])) <= SERVICES.keys()


def test_services_call_commands_with_options_that_exist():
    known = {command.callback.__name__ for command in app.registered_commands}
    assert SERVICES["streamlearn"]["command"][0] in known
    produce = next(c.callback for c in app.registered_commands if c.callback.__name__ == "produce")
    options = {
        word.split("=")[0].removeprefix("--").replace("-", "_")
        for word in SERVICES["producer"]["command"][2:]
    }
    assert options <= set(produce.__annotations__)


def test_the_ports_fit_together():
    [job] = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yaml").read_text())["scrape_configs"]
    assert job["static_configs"][0]["targets"] == ["streamlearn:9464"]
    assert "127.0.0.1:9464:9464" in SERVICES["streamlearn"]["ports"]
    assert re.search(r"^EXPOSE 9464$", (DEPLOY / "Dockerfile").read_text(), re.M)


def test_the_example_learns_its_sentences_and_can_do_what_it_is_to_do():
    config = load(DEPLOY / "compose" / "config.yaml")
    build_watch(config, build_tagger(config))
    evaluation = Evaluation(config, pytest.fail)
    sentences = [str(DEPLOY / "compose" / "sentences.jsonl")]
    evaluation.train(sentences)
    assert evaluation.test(sentences)["f1"] > 0.95


def test_the_image_copies_what_is_there_and_runs_as_nobody_special():
    text = (DEPLOY / "Dockerfile").read_text()
    for sources in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.M):
        for source in sources.split():
            assert list(DEPLOY.parent.glob(source)), source
    [user] = re.findall(r"^USER (\d+)$", text, re.M)
    assert int(user) > 0
    assert f"--uid {user} " in text
    assert re.search(r'^ENTRYPOINT \["streamlearn"\]$', text, re.M)
