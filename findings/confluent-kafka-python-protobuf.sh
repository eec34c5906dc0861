#!/bin/sh
# confluent-kafka (Python): the Protobuf serializer registers no .proto text, but a FileDescriptorProto in base64. The
# message indexes of its records count the entry types of maps, which text does not have: a nested message behind a
# map has index 1 although it is the first message of the text. Some registries return the base64 as it is.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet 'confluent-kafka[protobuf,schemaregistry]==2.16.1' grpcio-tools==1.85.1
cat >reading.proto <<'PROTO'
syntax = "proto3";
message Reading {
  map<string, string> tags = 1;
  message Point { double value = 1; }
  repeated Point points = 2;
}
PROTO
venv/bin/python -m grpc_tools.protoc -I. --python_out=. reading.proto
venv/bin/python - <<'PYTHON'
import base64, sys
import confluent_kafka, reading_pb2
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

client = SchemaRegistryClient.new_client({"url": "mock://finding"})
serializer = ProtobufSerializer(reading_pb2.Reading.Point, client, {"use.deprecated.format": False})
record = serializer(reading_pb2.Reading.Point(value=1), SerializationContext("t", MessageField.VALUE))
text = client.get_latest_version("t-value").schema.schema_str
print("confluent-kafka", confluent_kafka.__version__)
print("registered:", text[:40] + "...")
print("bytes behind the schema id:", record[5:8].hex(), "(zigzag: 2 indexes, Reading 0, Point", str(record[7] // 2) + ")")
is_descriptor = base64.b64decode(text, validate=True).startswith(b"\n\rreading.proto")
sys.exit(0 if is_descriptor and record[5:8] == bytes([4, 0, 2]) else 1)
PYTHON
