"""What the READMEs promise: every command, configuration, record and link in them is good."""

import argparse
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import click
import jsonschema
import pytest
import typer.main
import yaml
from typer.testing import CliRunner

from streamlearn.cli.main import app
from streamlearn.config.load import load
from streamlearn.config.schema import Config
from streamlearn.features.views import DERIVATIONS
from streamlearn.stream.record_codec import RecordCodec
from streamlearn.telemetry.catalogue import METRICS, PREFIX
from tests import reference
from tests.app.process import Run, metric
from tests.conftest import Broker
from tests.deploy.test_rules import ALERTS
from tests.kafka.broker import free_ports
from tests.markdown import Block, anchors, blocks, commands, links, prose
from tests.test_architecture import ALLOWED
from tests.waiting import until

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "data"
FOLDERS = ("", "configs", "deploy", "streamlearn", "tests/benchmarks")
READMES = {folder or ".": ROOT / folder / "README.md" for folder in FOLDERS}
BLOCKS = [
    pytest.param(block, id=f"{folder}:{block.line}")
    for folder, path in READMES.items()
    for block in blocks(path)
]
TOOLS = {"docker", "mypy", "pip", "promtool", "pytest", "python", "python3", "ruff", "streamlearn", "."}
# What only root may do, on a machine of its own.
TOOLS |= {"install", "systemctl", "useradd", "/opt/streamlearn/bin/pip"}
COMPILING_SECONDS = 240


def of(language: str) -> "pytest.MarkDecorator":
    return pytest.mark.parametrize("block", [p for p in BLOCKS if p.values[0].language == language])


def test_every_code_block_is_of_a_language_that_is_tried() -> None:
    assert {param.values[0].language for param in BLOCKS} == {"json", "python", "sh", "yaml"}


def test_the_top_readme_is_short_and_has_its_headings() -> None:
    lines = READMES["."].read_text().splitlines()
    assert len(lines) <= 250
    wanted = {"Guarantees", "Benchmarks", "Architecture", "Running in production", "Concept drift"}
    assert wanted <= {line.removeprefix("## ") for line in lines}


def test_the_picture_is_small() -> None:
    picture = ROOT / "deploy" / "status.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 100_000


@pytest.mark.parametrize("folder", READMES)
def test_relative_links_lead_somewhere(folder: str) -> None:
    path = READMES[folder]
    for link in links(path):
        if link.startswith(("http://", "https://")):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("folder", READMES)
def test_files_named_in_passing_exist(folder: str) -> None:
    for name in re.findall(r"`((?:configs|deploy|streamlearn|tests)/[\w/-]+\.\w+)`", prose(READMES[folder])):
        assert (ROOT / name).is_file(), name


def test_generated_tables_are_up_to_date() -> None:
    found = {
        part: path.relative_to(ROOT).as_posix()
        for path in READMES.values()
        for part in re.findall(r"<!-- reference: (\w+) -->", path.read_text())
    }
    assert found == reference.HOMES
    for path in READMES.values():
        assert reference.updated(path.read_text()) == path.read_text(), "run: python -m tests.reference"


def test_metrics_and_keys_that_are_named_exist() -> None:
    metrics = {PREFIX + spec.name for spec in METRICS}
    keys = {row[0].strip("`") for row in reference.keys(Config)}
    sections = "|".join(name for name in Config.model_fields if name not in ("kafka", "model"))
    for path in READMES.values():
        for name in re.findall(rf"`({PREFIX}\w+)`", path.read_text()):
            assert name in metrics, name
        for name in re.findall(rf"`((?:{sections})\.[a-z_]+)(?:: [^`]*)?`", path.read_text()):
            assert name in keys or name.endswith((".kind", ".md", ".yaml", ".py")), name


def test_every_alert_has_its_runbook() -> None:
    text = READMES["deploy"].read_text()
    found = {}
    for section in re.split(r"^(?=##+ )", text, flags=re.M):
        if section.startswith("### Streamlearn"):
            heading, _, body = section.partition("\n")
            found[heading.removeprefix("### ")] = re.findall(r"^\* \*\*(.+?):\*\* \S", body, re.M)
    assert found == {rule["alert"]: ["Meaning", "Look at", "Do"] for rule in ALERTS}


def test_every_view_is_described() -> None:
    text = READMES["configs"].read_text()
    assert [name for name in DERIVATIONS if f"`{name}`" not in text] == []


def test_every_configuration_is_listed() -> None:
    listed = {link for link in links(READMES["configs"]) if re.fullmatch(r"[\w-]+\.yaml", link)}
    assert listed == {path.name for path in (ROOT / "configs").glob("*.yaml")}


def test_every_package_is_listed() -> None:
    listed = {link.split("/")[0] for link in links(READMES["streamlearn"])}
    packages = {name for name in ALLOWED if (ROOT / "streamlearn" / name).is_dir() and name}
    assert packages <= listed


def test_ci_runs_the_test_command_of_the_readme() -> None:
    command = (ROOT / ".ci" / "run").read_text().strip().splitlines()[-1]
    assert command.startswith("python3 -m venv")
    assert command in [line for block in blocks(READMES["."]) for line in block.text.splitlines()]


@of("json")
def test_records_are_decoded(block: Block) -> None:
    for line in block.text.splitlines():
        example = RecordCodec("json").decode_value(line.encode())
        assert example.labels


@of("python")
def test_python_runs(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(block.text, f"{block.path}:{block.line}", "exec"), {})


@of("yaml")
def test_configurations_are_loaded(block: Block, tmp_path: Path) -> None:
    tree = yaml.safe_load(block.text)
    path = tmp_path / "config.yaml"
    if "scrape_configs" in tree:
        for name in ("ca.pem", "password"):
            (tmp_path / name).touch()
        path.write_text(block.text)
        if shutil.which("promtool"):
            command = ["promtool", "check", "config", "--syntax-only", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        return
    text = block.text
    for secret in re.findall(r"_file: (\S+)", text):
        (tmp_path / Path(secret).name).write_text("secret\n")
        text = text.replace(secret, Path(secret).name)
    path.write_text(text)
    config = load(path)
    assert set(tree) <= config.model_fields_set
    assert "secret" not in text or config.metrics.password == "secret"


class ParsedError(Exception):
    """The command line of a module is good; it would start to work now."""


def parse_module(words: list[str], monkeypatch: pytest.MonkeyPatch) -> argparse.Namespace:
    """Let a module parse its command line, and nothing else."""
    name = words[0]
    if importlib.util.find_spec(name).submodule_search_locations is not None:
        name += ".__main__"
    parse = argparse.ArgumentParser.parse_args

    def stop(parser, arguments=None, namespace=None):
        raise ParsedError(parse(parser, arguments, namespace))

    with monkeypatch.context() as patched:
        patched.setattr(sys, "argv", [name, *words[1:]])
        patched.setattr(argparse.ArgumentParser, "parse_args", stop)
        with pytest.raises(ParsedError) as parsed:
            importlib.import_module(name).main()
    return parsed.value.args[0]


def parse_command(words: list[str]) -> click.Context:
    """Parse a command line as `streamlearn` does, without running the command."""
    command = typer.main.get_command(app)
    while hasattr(command, "commands"):
        name, *words = words
        command = command.commands[name]
    return command.make_context(command.name, list(words))


class Folder:
    """The files that the commands of a README find, and leave behind."""

    def __init__(self, path: Path) -> None:
        yamls = [block.text for block in blocks(path) if block.language == "yaml"]
        self._given = {
            f"{model[1]}.yaml": text for text in yamls if (model := re.match(r"model: (.+)", text))
        }
        self._made: set[str] = set()

    def check(self, words: list[str]) -> None:
        """Check that all files a command needs are there, and note what it makes."""
        made = {words[-1]} if words[0] == "install" else set()
        previous = ""
        for word in words:
            if previous in ("--output", "-o", "--ca-file"):
                made.add(word)
            elif re.search(r"\.(?:yaml|jsonl|gz|py|service|txt)$|^(?:s3:/|state)/", word) and "=" not in word:
                assert word in made or self._is_there(word), word
            previous = word
        if words[:2] == ["streamlearn", "run"]:
            made.add(self._state(words))
        self._made |= made

    def _is_there(self, word: str) -> bool:
        if word.startswith("../shared/data/"):
            return not DATA.is_dir() or (DATA / word.removeprefix("../shared/data/")).is_file()
        return word in self._made or word in self._given or (ROOT / word).is_file()

    def _state(self, words: list[str]) -> str:
        for word in words:
            if word.startswith("checkpoint.directory="):
                return word.partition("=")[2]
        text = self._given.get(words[2]) or (ROOT / words[2]).read_text()
        return str(yaml.safe_load(text)["checkpoint"]["directory"])


def check_tool(words: list[str]) -> None:
    """Check what can be checked of a command that is not ours."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    if words[0] == "pip":
        [package] = [word for word in words if word.startswith(".")]
        assert set(package[2:-1].split(",")) <= extras.keys()
    elif words[:2] == ["docker", "compose"]:
        assert {"streamlearn", "kafka"} <= yaml.safe_load((ROOT / words[3]).read_text())["services"].keys()
    elif words[0] in ("ruff", "mypy", "pytest"):
        assert words[0] in {script.name for script in entry_points(group="console_scripts")} | {"ruff"}


@pytest.mark.parametrize("folder", READMES)
def test_commands_can_be_typed(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = Folder(READMES[folder])
    for block in blocks(READMES[folder]):
        for words in commands(block) if block.language == "sh" else ():
            assert words[0] in TOOLS, words
            files.check(words)
            if words[0] == "streamlearn":
                parse_command(words[1:])
            elif words[:2] == ["python", "-m"]:
                parse_module(words[2:], monkeypatch)
            else:
                check_tool(words)


@pytest.fixture
def checkout(tmp_path: Path, embedded_broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory with what the first README refers to, and a broker where its commands expect one."""
    (tmp_path / "deploy").symlink_to(ROOT / "deploy")
    [text] = [block.text for block in blocks(READMES["."]) if block.language == "yaml"]
    (tmp_path / "phrases.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STREAMLEARN_KAFKA__BOOTSTRAP_SERVERS", embedded_broker.server)
    monkeypatch.setenv("STREAMLEARN_METRICS__PORT", str(free_ports(1)[0]))
    yield tmp_path
    for run in Run.started:
        run.process.kill()
    Run.started.clear()


def sequence() -> Iterator[list[str]]:
    """Yield the commands of the first README that learn from a topic and use the model."""
    for block in blocks(READMES["."]):
        for words in commands(block) if block.language == "sh" else ():
            if words[0] == "streamlearn" and words[1] != "demo":
                yield words[1:]


def learn_all(folder: Path, config: str) -> None:
    """Run the daemon until it has learned all sentences, then stop it as a supervisor does."""
    sentences = (folder / "deploy" / "compose" / "sentences.jsonl").read_text().count("\n")
    url = f"http://127.0.0.1:{os.environ['STREAMLEARN_METRICS__PORT']}"
    run = Run(folder / config)
    until(
        lambda: metric(url, "streamlearn_sequences_seen") == sentences or run.process.poll() is not None,
        COMPILING_SECONDS,
        "learning all sentences",
    )
    assert run.end(signal.SIGTERM) == 0, (folder / "log").read_text()


def test_the_commands_that_learn_from_a_topic_run_in_their_order(checkout: Path) -> None:
    outputs: dict[str, str] = {}
    for command, *arguments in sequence():
        if command == "run":
            learn_all(checkout, *arguments)
            continue
        done = CliRunner().invoke(app, [command, *arguments])
        assert done.exit_code == 0, (command, arguments, done.output, done.exception)
        outputs[command] = done.stdout
    wanted = {"init", "produce", "check", "predict", "inspect", "checkpoints", "report", "evaluate", "tune"}
    assert outputs.keys() == wanted
    prediction = json.loads(outputs["predict"].splitlines()[0])
    schema = json.loads((ROOT / "streamlearn" / "stream" / "prediction.schema.json").read_text())
    jsonschema.validate(prediction, schema)
    assert (checkout / "report.html").stat().st_size > 10_000
    assert load(checkout / "tuned.yaml").model == "phrases"
