"""Nodes of Apache Kafka, downloaded once, started and stopped at will: one alone, or three as a cluster."""

import ctypes
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from tests.certificates import Authority
from tests.waiting import until

POM = Path(__file__).with_name("pom.xml")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "streamlearn" / "kafka-4.3.1"
# Of the user `learner`: such that it is found wherever it leaks.
PASSWORD = "correct-horse"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
# Half of the compiler: a broker that lives for seconds never earns the other half's work.
_JAVA = ("-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dlog4j2.level=WARN")

_PROPERTIES = """
process.roles=broker,controller
node.id={node_id}
listeners={clients},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners={clients}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SASL_SSL,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
{quorum}
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512,OAUTHBEARER
listener.name.sasl.sasl.enabled.mechanisms=PLAIN
listener.name.sasl.plain.sasl.jaas.config=\
org.apache.kafka.common.security.plain.PlainLoginModule required user_reader="right";
listener.name.tls.ssl.keystore.type=PEM
listener.name.tls.ssl.keystore.location={keystore}
listener.name.tls.plain.sasl.jaas.config=\
org.apache.kafka.common.security.plain.PlainLoginModule required user_learner="{password}";
listener.name.tls.scram-sha-512.sasl.jaas.config=\
org.apache.kafka.common.security.scram.ScramLoginModule required;
# Tokens are not signed: whoever has one is who it says.
listener.name.tls.oauthbearer.sasl.jaas.config=\
org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required \
unsecuredLoginStringClaim_sub="broker";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
# Whoever comes without TLS may do everything: most tests are not about permissions.
super.users=User:ANONYMOUS;User:reader
log.dirs={log_dir}
default.replication.factor={replicas}
min.insync.replicas={in_sync}
offsets.topic.replication.factor={replicas}
offsets.topic.num.partitions=1
transaction.state.log.replication.factor={replicas}
transaction.state.log.min.isr={in_sync}
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor={replicas}
share.coordinator.state.topic.min.isr={in_sync}
group.initial.rebalance.delay.ms=0
# Kafka's own default: so the tests see it if we ever create a topic by asking for it.
auto.create.topics.enable=true
message.max.bytes=20000000
# The cleaner of compacted topics looks up every 15 seconds otherwise.
log.cleaner.backoff.ms=200
# A broker that was killed may come back once its old session is over.
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=200
"""


class MissingToolsError(Exception):
    """Apache Kafka cannot be run here."""


def jars() -> Path:
    """Return the folder of Kafka's jars, downloaded by the first run that needs it."""
    if not (shutil.which("java") and shutil.which("mvn")):
        raise MissingToolsError("Apache Kafka needs java and mvn on the PATH")
    CACHE.mkdir(parents=True, exist_ok=True)
    libs = CACHE / "libs"
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not libs.is_dir():
            partial = CACHE / "libs.partial"
            shutil.rmtree(partial, ignore_errors=True)
            arguments = ["-DincludeScope=runtime", f"-DoutputDirectory={partial}"]
            done = subprocess.run(
                ["mvn", "-q", "-B", "-f", str(POM), _COPY, *arguments],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise MissingToolsError(f"Maven could not fetch Apache Kafka: {done.stdout[-2000:]}")
            partial.rename(libs)
    return libs


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class ApacheKafka:
    """A broker and controller in one process, its data in a folder of its own.

    Stopped or killed it keeps ports and data, so that `start` brings the same broker back.
    `sasl_server` takes user ``reader`` with password ``right``; `tls_server`, whose certificate `authority`
    has signed, takes ``learner`` with `PASSWORD` by PLAIN and SCRAM, and any unsigned token.

    Parameters
    ----------
    node_id, voters : in a cluster, which node it is, and the controllers' ports by node.
    """

    def __init__(self, folder: Path, node_id: int = 1, voters: Mapping[int, int] | None = None) -> None:
        folder.mkdir(exist_ok=True)
        self.log_dir = folder / "data"
        self._classpath = f"{jars()}/*"
        self._output = folder / "output"
        self._properties = folder / "server.properties"
        self._process: subprocess.Popen[bytes] | None = None
        port, sasl_port, tls_port, alone = free_ports(4)
        controller_port = voters[node_id] if voters else alone
        self.server = f"127.0.0.1:{port}"
        self.sasl_server = f"127.0.0.1:{sasl_port}"
        self.tls_server = f"127.0.0.1:{tls_port}"
        self.authority = Authority(folder)
        keystore = folder / "keystore.pem"
        keystore.write_bytes(b"".join(path.read_bytes() for path in reversed(self.authority.server())))
        self._properties.write_text(
            _PROPERTIES.format(
                clients=f"PLAINTEXT://{self.server},SASL://{self.sasl_server},TLS://{self.tls_server}",
                keystore=keystore,
                password=PASSWORD,
                controller_port=controller_port,
                log_dir=self.log_dir,
                node_id=node_id,
                quorum=_quorum(voters, controller_port),
                replicas=len(voters or "1"),
                in_sync=2 if voters else 1,
            )
        )
        how = (
            ()
            if voters
            else ("--standalone", "--add-scram", f"SCRAM-SHA-512=[name=learner,password={PASSWORD}]")
        )
        arguments = ("-t", "streamlearn-test-clust", "-c", str(self._properties))
        self._java("kafka.tools.StorageTool", "format", *how, *arguments)

    def start(self) -> None:
        """Start, and wait until a topic can be created."""
        self.launch()
        until(self.is_ready, 180, "Kafka's start")

    def launch(self) -> None:
        """Start without waiting."""
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                ["java", *_JAVA, "-cp", self._classpath, "kafka.Kafka", str(self._properties)],
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=_die_with_parent(),
            )

    def stop(self) -> None:
        """Shut down in order."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Die at once."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Stop answering while connections stay open."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Answer again."""
        self._signal(signal.SIGCONT)

    def ensure_running(self) -> None:
        """Start unless it runs, and wait until it answers."""
        if self._process is None:
            self.start()
        else:
            self.thaw()
            until(self.is_ready, 180, "Kafka's answer")

    def _signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def _end(self, number: int) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.send_signal(number)
            self._process.wait(30)
            self._process = None

    def is_ready(self) -> bool:
        """Return whether it answers."""
        assert self._process is not None
        if self._process.poll() is not None:
            raise AssertionError(f"Kafka ended: {self._output.read_text()[-3000:]}")
        host, port = self.server.split(":")
        try:
            socket.create_connection((host, int(port)), 0.2).close()
            with KafkaAdminClient(bootstrap_servers=self.server, bootstrap_timeout_ms=1000) as admin:
                return bool(admin.describe_cluster()["brokers"])
        except (OSError, KafkaError):
            return False

    def _java(self, *arguments: str) -> None:
        subprocess.run(
            ["java", "-XX:TieredStopAtLevel=1", "-cp", self._classpath, *arguments],
            check=True,
            capture_output=True,
        )


def _quorum(voters: Mapping[int, int] | None, controller_port: int) -> str:
    if not voters:
        return f"controller.quorum.bootstrap.servers=127.0.0.1:{controller_port}"
    names = ",".join(f"{node}@127.0.0.1:{port}" for node, port in voters.items())
    return f"controller.quorum.voters={names}"


def _die_with_parent() -> Callable[[], None] | None:
    """Make Linux kill the broker when a test run is killed."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(1, signal.SIGKILL)
