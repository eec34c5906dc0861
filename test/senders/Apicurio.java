import com.google.protobuf.*; import com.google.protobuf.DescriptorProtos.*; import io.apicurio.registry.serde.avro.*; import io.apicurio.registry.serde.jsonschema.*; import io.apicurio.registry.serde.protobuf.*;
import java.net.URI; import java.net.http.*; import java.util.*; import org.apache.avro.Schema; import org.apache.avro.generic.*; import org.apache.kafka.common.header.internals.*; import org.apache.kafka.common.serialization.Serializer;
/** Records what Apicurio's serializers write: they are on the class path, the URL of an empty registry is given. Of one schema under two subjects the second has a global id that is no content id. */
public class Apicurio {
  static final List<String> records = new ArrayList<>();
  public static class Reading { public String series = "kiln-1"; public long timestamp = 1767225600000L; public long value = 1152921504606847076L; }
  static String text(byte[] bytes) { return "\"" + Base64.getEncoder().encodeToString(bytes) + "\""; }
  static <T> void record(String name, Serializer<T> serializer, Map<String, Object> settings, String topic, T value) {
    serializer.configure(settings, false);
    RecordHeaders headers = new RecordHeaders();
    byte[] bytes = serializer.serialize(topic, headers, value);
    StringJoiner named = new StringJoiner(",");
    headers.forEach(header -> named.add("[\"" + header.key() + "\"," + text(header.value()) + "]"));
    records.add("{\"name\":\"" + name + "\",\"value\":" + text(bytes) + ",\"headers\":[" + named + "]}");
  }
  public static void main(String[] arguments) throws Exception {
    String registry = arguments[0]; HttpClient http = HttpClient.newHttpClient();
    String fields = "\"series\":{\"type\":\"string\"},\"timestamp\":{\"type\":\"integer\"},\"value\":{\"type\":\"integer\"}";
    for (String id : List.of("json-value", "json/second-value")) http.send(HttpRequest.newBuilder(URI.create(registry + "/apis/registry/v2/groups/default/artifacts")).header("X-Registry-ArtifactId", id).header("X-Registry-ArtifactType", "JSON")
      .header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString("{\"title\":\"reading\",\"type\":\"object\",\"properties\":{" + fields + "}}")).build(), HttpResponse.BodyHandlers.ofString());
    Schema schema = new Schema.Parser().parse("{\"type\":\"record\",\"name\":\"Reading\",\"fields\":[{\"name\":\"note\",\"type\":[\"null\",\"string\"]},{\"name\":\"series\",\"type\":\"string\"},{\"name\":\"timestamp\",\"type\":\"long\"},{\"name\":\"value\",\"type\":\"long\"}]}");
    GenericRecord row = new GenericData.Record(schema);
    row.put("series", "kiln-1"); row.put("timestamp", 1767225600000L); row.put("value", 1152921504606847076L);
    FileDescriptorProto.Builder file = FileDescriptorProto.newBuilder().setName("reading.proto").setSyntax("proto3").setPackage("shop");
    for (String name : List.of("First", "Sample")) {
      DescriptorProto.Builder message = DescriptorProto.newBuilder().setName(name);
      for (String field : List.of("series", "timestamp", "value")) message.addField(FieldDescriptorProto.newBuilder().setName(field).setNumber(message.getFieldCount() + 1).setLabel(FieldDescriptorProto.Label.LABEL_OPTIONAL).setType(field.equals("series") ? FieldDescriptorProto.Type.TYPE_STRING : FieldDescriptorProto.Type.TYPE_INT64));
      file.addMessageType(message);
    }
    Descriptors.Descriptor sample = Descriptors.FileDescriptor.buildFrom(file.build(), new Descriptors.FileDescriptor[0]).findMessageTypeByName("Sample");
    DynamicMessage message = DynamicMessage.newBuilder(sample).setField(sample.findFieldByName("series"), "kiln-1").setField(sample.findFieldByName("timestamp"), 1767225600000L).setField(sample.findFieldByName("value"), 1152921504606847076L).build();
    for (String use : List.of("contentId", "globalId")) for (String place : List.of("header", "prefix", "eight-bytes")) {
      Map<String, Object> settings = new HashMap<>(Map.of("apicurio.registry.url", registry + "/apis/registry/v2", "apicurio.registry.use-id", use, "apicurio.registry.headers.enabled", place.equals("header"), "apicurio.registry.as-confluent", place.equals("prefix")));
      record("json-" + place + "-" + use, new JsonSchemaKafkaSerializer<Reading>(), settings, "json/second", new Reading());
      settings.put("apicurio.registry.auto-register", true); settings.put("apicurio.registry.auto-register.if-exists", "RETURN_OR_UPDATE");
      for (String topic : List.of("avro", "avro/second")) record(topic + "-" + place + "-" + use, new AvroKafkaSerializer<GenericRecord>(), settings, topic, row);
      record("protobuf-" + place + "-" + use, new ProtobufKafkaSerializer<DynamicMessage>(), settings, "protobuf", message);
    }
    StringJoiner schemas = new StringJoiner(",");
    for (int id = 1; id <= 9; id++) {
      HttpResponse<String> answer = http.send(HttpRequest.newBuilder(URI.create(registry + "/apis/ccompat/v7/schemas/ids/" + id)).build(), HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() == 200) schemas.add("\"" + id + "\":" + answer.body());
    }
    System.out.println("{\"sender\":\"Apicurio's serializers 2.6.13\",\"recorded\":\"" + java.time.LocalDate.now() + "\",\"schemas\":{" + schemas + "},\"records\":[" + String.join(",", records) + "]}");
    System.exit(0);
  }
}
