"""Apache Kafka as a source and a sink; the only package that uses kafka-python."""
