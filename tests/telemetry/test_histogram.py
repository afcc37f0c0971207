import numpy as np
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.exposition import generate_latest

from streamlearn.telemetry.histogram import BatchHistogram


def test_the_exposition_equals_prometheus_clients_own():
    values = [[0.0, 1.0, 1.5, 99.0], [], [2.0]]
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    batch = BatchHistogram("h_seconds", "Help.", ours, (1.0, 2.0), [("phase", ("a", "b"))])
    single = Histogram("h_seconds", "Help.", ["phase"], buckets=(1.0, 2.0), registry=theirs)
    for phase in "ab":
        single.labels(phase)
    for chunk in values:
        batch.observe_many(chunk, "b")
        for value in chunk:
            single.labels("b").observe(value)
    lines = [line for line in generate_latest(theirs).decode().splitlines() if "_created" not in line]
    assert generate_latest(ours).decode().splitlines() == lines


def test_a_scrape_in_between_sees_one_moment():
    registry = CollectorRegistry()
    batch = BatchHistogram("h", "Help.", registry, (1.0,))
    before = batch.collect()
    batch.observe_many(np.ones(1000))
    assert [sample.value for family in before for sample in family.samples] == [0, 0, 0, 0]
    assert registry.get_sample_value("h_count") == 1000
