"""Apache Kafka as a source and a sink; the only place that knows kafka-python."""
