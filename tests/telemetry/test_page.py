"""The status page in a real browser."""

import re
import shutil
import subprocess

import pytest
from prometheus_client import CollectorRegistry

from streamlearn.events import Drift, LabelScore, StateChanged
from streamlearn.telemetry.health import Health
from streamlearn.telemetry.server import Server
from streamlearn.telemetry.status import Status
from tests.telemetry import examples

pytestmark = pytest.mark.skipif(
    not shutil.which("chromium"), reason="chromium is absent (Debian: apt install chromium)"
)

CURVE = {
    "sequences": [10.0, 20.0, 30.0],
    "accuracy": [0.2, 0.8, 0.9],
    "sequence_accuracy": [0.1, None, 0.5],
    "loss": [9.0, 4.0, 1.0],
}


def browse(url, tmp_path, *arguments):
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000",
               f"--user-data-dir={tmp_path / 'profile'}", *arguments, url]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)


@pytest.fixture
def serve():
    servers = []

    def start(*events, curve=CURVE, drifts=()):
        status = Status({"version": "0", "model": "np", "learner": "adf"}, lambda: curve, lambda: drifts)
        for event in events:
            status(event)
        server = Server("127.0.0.1", 0, CollectorRegistry(), Health(), status.snapshot)
        server.start()
        servers.append(server)
        return server.url

    yield start
    for server in servers:
        server.close()


def text_of(dom):
    return " ".join(re.sub(r"<[^>]+>", " ", dom.split("</style>")[1].split("<script>")[0]).split())


def test_it_shows_what_happened(serve, tmp_path):
    drift = Drift(15, "error", "adwin", 0.1, 0.6, ("rewarm",))
    learned = examples.learned(
        confusions=[("NP", "VP", 17)],
        labels={"NP": LabelScore(1.0, 0.5, 2 / 3, 4)},
        gauges={"features_known": 12.0},
    )
    url = serve(StateChanged("running"), examples.polled(2), learned, examples.rejected(),
                examples.written(), drifts=[drift])  # fmt: skip
    dom = browse(url, tmp_path, "--dump-dom").stdout
    text = text_of(dom)
    for words in ("np running, 1 alarm broker connected", "10 % of the records",
                  "75.0 %", "1,002", "NP VP 17", "NP 66.7 % 100.0 % 50.0 % 4",
                  "orders[1] 4 10", "error 15 0.100 0.600 rewarm", "length orders[3]@1841"):  # fmt: skip
        assert words in text, text
    assert dom.count('class="curve"') == 3
    assert "error rose at 15" in text


def test_names_from_the_stream_are_never_markup(serve, tmp_path):
    evil = "<img src=x onerror=document.title='owned'>"
    url = serve(examples.learned(labels={evil: LabelScore(1.0, 1.0, 1.0, 1)}, confusions=[(evil, evil, 1)]))
    dom = browse(url, tmp_path, "--dump-dom").stdout
    assert "<img" not in dom
    assert "&lt;img src=x" in dom
    assert "<title>np" in dom


def test_before_the_first_record_it_says_so(serve, tmp_path):
    empty = {name: [] for name in CURVE}
    text = text_of(browse(serve(curve=empty), tmp_path, "--dump-dom").stdout)
    assert "starting no broker" in text
    assert text.count("nothing learned yet") == 4


def test_one_interval_is_a_point_and_what_a_checkpoint_has_is_there(serve, tmp_path):
    scores = {"confusions": [("NP", "VP", 17)], "labels": {"NP": LabelScore(1.0, 0.5, 2 / 3, 4)}}
    curve = {name: values[:1] for name, values in CURVE.items()}
    url = serve(examples.resumed(**scores), StateChanged("running"), examples.polled(1), curve=curve)
    dom = browse(url, tmp_path, "--dump-dom").stdout
    text = text_of(dom)
    assert dom.count('class="dot"') == 3
    assert "NP VP 17" in text
    assert "features 12" in text
    assert "nothing" not in text


def test_the_state_is_as_bad_as_the_alarms(serve, tmp_path):
    url = serve(StateChanged("running"), examples.polled(1), examples.failed(), examples.rejected())
    dom = browse(url, tmp_path, "--dump-dom").stdout
    assert '<span id="state" class="pill bad">running, 2 alarms</span>' in dom
    assert "no space left on device StreamlearnCheckpointFailing" in text_of(dom)
