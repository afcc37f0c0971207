import pytest

from streamlearn.config.load import load
from streamlearn.errors import ConfigError


@pytest.fixture
def load_with(tmp_path, monkeypatch):
    for name in ("KAFKA__SASL_PLAIN_PASSWORD", "KAFKA__SASL_PLAIN_PASSWORD_FILE", "METRICS__PASSWORD_FILE"):
        monkeypatch.delenv(f"STREAMLEARN_{name}", raising=False)
    (tmp_path / "secret").write_text("0123 #x\r\nnot this\n")
    (tmp_path / "empty").write_text("\n")

    def load_with(text):
        (tmp_path / "c.yaml").write_text(text)
        return load(tmp_path / "c.yaml")

    return load_with


def test_a_secret_is_the_first_line_of_its_file_relative_to_the_configuration(load_with):
    config = load_with(
        "kafka: {sasl_plain_password_file: secret}\nmetrics: {username: jo, password_file: secret}\n"
    )
    assert config.kafka == {"sasl_plain_password": "0123 #x"}
    assert (config.metrics.password, config.metrics.password_file) == ("0123 #x", None)
    assert "0123" not in repr(config.metrics)


def test_a_variable_may_name_the_file(load_with, monkeypatch, tmp_path):
    monkeypatch.setenv("STREAMLEARN_KAFKA__SASL_PLAIN_PASSWORD_FILE", str(tmp_path / "secret"))
    assert load_with("kafka: {client_id: x}").kafka["sasl_plain_password"] == "0123 #x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "kafka: {ssl_password_file: nothing}",
            "kafka.ssl_password_file: .*nothing: cannot be read: No such file",
        ),
        ("kafka: {ssl_password_file: .}", "Is a directory"),
        ("kafka: {ssl_password_file: empty}", "the first line is empty"),
        ("kafka: {ssl_password_file: null}", "None: cannot be read: No such file"),
        (
            "kafka: {ssl_password: hunter2, ssl_password_file: secret}",
            "set ssl_password or ssl_password_file, not both",
        ),
        ("metrics: {password: hunter2}", "username and password belong together"),
        ("metrics: {username: jo}", "username and password belong together"),
        ("metrics: {username: 'jo:hunter2', password: hunter2}", "metrics.username"),
        ("metrics: {username: jo, password: [hunter2]}", "metrics.password: wanted text"),
        ("metrics: {tls_key: k.pem}", "set tls_certificate, too"),
    ],
)
def test_what_is_incomplete_is_refused_without_showing_a_secret(load_with, text, message):
    with pytest.raises(ConfigError, match=message) as refused:
        load_with(text)
    assert "[hunter2" not in str(refused.value)
    assert "'hunter2" not in str(refused.value)
