"""What can be said of images, services and units without running them."""

import configparser
import re
import shutil
import socket
import subprocess
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement

from streamlearn import errors
from streamlearn.app.build_learner import LEARNERS
from streamlearn.app.build_tagger import build_tagger
from streamlearn.app.drift_watch import build_watch
from streamlearn.app.evaluate import Evaluation
from streamlearn.cli.main import app
from streamlearn.config.load import load
from tests.deploy.dashboards import DEPLOY

UNIT = DEPLOY / "systemd" / "streamlearn@.service"
COMPOSE = yaml.safe_load((DEPLOY / "docker-compose.yaml").read_text())
SERVICES = COMPOSE["services"]
CONFIG = load(DEPLOY / "compose" / "config.yaml")
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


def unit():
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read(UNIT)
    return parser["Service"]


def test_the_unit_has_limits_and_time_to_save():
    service = unit()
    assert service["Type"] == "notify"
    assert int(service["WatchdogSec"]) >= 60
    # A boot waits for it.
    assert int(service["TimeoutStartSec"]) <= 600
    assert int(service["TimeoutStopSec"]) >= 120
    assert service["MemoryMax"]


def test_the_unit_restarts_where_that_may_help_and_nowhere_else():
    by_hope = {True: set(), False: set()}
    for error in vars(errors).values():
        if not isinstance(error, type) or not issubclass(error, errors.StreamlearnError):
            continue
        # No daemon ends with these two.
        if error not in (errors.StreamlearnError, errors.RecordError):
            helps, does_not = (f"A restart {verb}" in error.__doc__ for verb in ("helps", "does not help"))
            assert helps != does_not, f"{error.__name__} says whether a restart helps"
            by_hope[helps].add(error.exit_code)
    assert by_hope[True] & by_hope[False] == set()
    assert {int(code) for code in unit()["RestartPreventExitStatus"].split()} == by_hope[False]


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


def test_what_belongs_together_is_kept_together():
    # `down` removes containers: a topic that is gone while the state is kept can never be continued.
    kept = {
        name: [v.split(":")[1] for v in s.get("volumes", []) if v[0] != "."] for name, s in SERVICES.items()
    }
    assert SERVICES["kafka"]["environment"]["KAFKA_LOG_DIRS"] in kept["kafka"]
    assert any(CONFIG.checkpoint.directory.startswith(place) for place in kept["streamlearn"])
    assert all(kept[name] for name in ("prometheus", "alertmanager"))


def test_services_call_commands_with_options_that_exist():
    known = {command.callback.__name__ for command in app.registered_commands}
    assert SERVICES["streamlearn"]["command"][0] in known
    produce = next(c.callback for c in app.registered_commands if c.callback.__name__ == "produce")
    options = {
        word.split("=")[0].removeprefix("--").replace("-", "_")
        for word in SERVICES["producer"]["command"][2:]
    }
    assert options <= set(produce.__annotations__)


def test_the_topic_is_there_before_it_is_used():
    assert {f"--topic={topic}" for topic in CONFIG.source.topics} <= set(SERVICES["topic"]["command"])
    for name in ("producer", "streamlearn"):
        assert SERVICES[name]["depends_on"]["topic"] == {"condition": "service_completed_successfully"}
    assert SERVICES["topic"]["depends_on"] == {"kafka": {"condition": "service_healthy"}}


def test_only_a_daemon_is_asked_for_its_health():
    for name, service in SERVICES.items():
        if service["image"] == "streamlearn":
            is_daemon = service["command"][0] == "run"
            assert service.get("healthcheck") == (None if is_daemon else {"disable": True}), name


def test_the_health_check_of_kafka_only_opens_its_port():
    command, *arguments = SERVICES["kafka"]["healthcheck"]["test"]
    assert (command, arguments[0]) == ("CMD", "bash")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        asked = [argument.replace("9092", port) for argument in arguments]
        assert subprocess.run(asked, check=False, timeout=30).returncode == 0
    assert subprocess.run(asked, check=False, timeout=30, capture_output=True).returncode != 0


def test_the_ports_fit_together():
    prometheus = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yaml").read_text())
    [job] = prometheus["scrape_configs"]
    assert job["static_configs"][0]["targets"] == ["streamlearn:9464"]
    [alerting] = prometheus["alerting"]["alertmanagers"]
    assert alerting["static_configs"][0]["targets"] == ["alertmanager:9093"]
    assert "127.0.0.1:9093:9093" in SERVICES["alertmanager"]["ports"]
    assert "127.0.0.1:9464:9464" in SERVICES["streamlearn"]["ports"]
    assert re.search(r"^EXPOSE 9464$", (DEPLOY / "Dockerfile").read_text(), re.M)


def test_the_example_learns_its_sentences_and_can_do_what_it_is_to_do():
    build_watch(CONFIG, build_tagger(CONFIG))
    evaluation = Evaluation(CONFIG, pytest.fail)
    sentences = [str(DEPLOY / "compose" / "sentences.jsonl")]
    evaluation.train(sentences)
    assert evaluation.test(sentences)["f1"] > 0.95


@pytest.mark.skipif(not shutil.which("amtool"), reason="amtool is absent")
def test_alertmanager_takes_its_configuration():
    command = ["amtool", "check-config", str(DEPLOY / "alertmanager" / "alertmanager.yaml")]
    subprocess.run(command, check=True, capture_output=True)


def test_the_image_copies_what_is_there_and_runs_as_nobody_special():
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    sent = {path for line in ignored if line.startswith("!") for path in DEPLOY.parent.glob(line[1:])}
    for sources in re.findall(r"^COPY (?:--chmod=\d+ )?(?!--from)(.+) \S+$", DOCKERFILE, re.M):
        for source in sources.split():
            found = list(DEPLOY.parent.glob(source))
            assert found, source
            assert all(sent & {path, *path.parents} for path in found), f"{source} is not sent to the builder"
    [user] = re.findall(r"^USER (\d+)$", DOCKERFILE, re.M)
    assert int(user) > 0
    assert f"--uid {user} " in DOCKERFILE
    assert re.search(r'^ENTRYPOINT \["entrypoint"\]$', DOCKERFILE, re.M)


def test_the_image_has_the_kernels_of_every_learner():
    [kinds] = re.findall(r"for kind in (.+); do", DOCKERFILE)
    assert set(kinds.split()) == LEARNERS.keys()


def test_the_image_asks_the_configuration_that_it_runs():
    [command] = re.findall(r"^CMD (.+)$", DOCKERFILE, re.M)
    [check] = re.findall(r"^HEALTHCHECK .*\\\n +(.+)$", DOCKERFILE, re.M)
    assert yaml.safe_load(check) == ["streamlearn", "health", yaml.safe_load(command)[1]]


def test_everything_in_the_image_is_pinned_to_a_hash_and_to_no_host():
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())
    needed = {
        "requirements.txt": [
            *project["project"]["dependencies"],
            *project["project"]["optional-dependencies"]["remote"],
        ],
        "requirements-build.txt": project["build-system"]["requires"],
    }
    for file, wanted in needed.items():
        text = (DEPLOY / file).read_text()
        assert "://" not in text, file
        pinned = {}
        for block in re.findall(r"^\w.*(?:\n    --hash.*)+", text, re.M):
            name, version, *_ = re.split(r"==| ", block.splitlines()[0])
            pinned.setdefault(name, []).append(version)
        assert len(re.findall(r"^\w", text, re.M)) == sum(map(len, pinned.values())), "each has hashes"
        for requirement in map(Requirement, wanted):
            versions = pinned[requirement.name.lower()]
            assert all(version in requirement.specifier for version in versions), (file, str(requirement))


@pytest.fixture
def enter(tmp_path):
    """Run the image's entry point with a folder of compiled kernels; give what `streamlearn` is told."""
    compiled = tmp_path / "compiled"
    (compiled / "adf-1").mkdir(parents=True)
    (compiled / "adf-1" / "code").write_text("machine code")
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    text = (DEPLOY / "entrypoint.sh").read_text()
    (bin_ / "entrypoint").write_text(text.replace("/opt/streamlearn/kernels", str(compiled)))
    (bin_ / "streamlearn").write_text('#!/bin/sh\nprintf "%s\\n" "$NUMBA_CACHE_DIR" "$@"\n')
    for file in bin_.iterdir():
        file.chmod(0o755)

    def run(cache):
        environment = {"PATH": f"{bin_}:/usr/bin:/bin", "NUMBA_CACHE_DIR": str(cache)}
        command = [bin_ / "entrypoint", "run", "a b.yaml"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        directory, *arguments = done.stdout.splitlines()
        assert arguments == ["run", "a b.yaml"]
        return directory

    return run


def test_a_volume_gets_the_kernels_of_the_image_and_keeps_its_own(enter, tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "old-1").write_text("of an older image")
    for _ in range(2):
        assert enter(cache) == str(cache)
        assert sorted(path.name for path in cache.rglob("*")) == ["adf-1", "code", "old-1"]


def test_where_the_cache_cannot_be_written_the_kernels_are_read_where_they_are(enter, tmp_path):
    assert enter(tmp_path / "cache" / "none") == str(tmp_path / "compiled")
