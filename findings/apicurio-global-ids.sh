#!/bin/sh
# Apicurio's serializers 2.6.13: with as-confluent=true they write four bytes of id, but the global id of the artifact,
# which the API that is compatible with Confluent's does not know: there the id is that of the content. One schema under
# two topics is enough. With apicurio.registry.use-id=contentId both read it. Protobuf has the name of its message
# before the record, where Confluent's clients have indexes.
set -eu
folder=$(mktemp -d)
trap 'kill $registry 2>/dev/null || true; rm -rf "$folder"' EXIT
registry=
cd "$folder"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>x</groupId><artifactId>x</artifactId><version>1</version><packaging>pom</packaging><dependencies>
<dependency><groupId>io.apicurio</groupId><artifactId>apicurio-registry-serdes-avro-serde</artifactId><version>2.6.13.Final</version></dependency>
<dependency><groupId>io.apicurio</groupId><artifactId>apicurio-registry-serdes-protobuf-serde</artifactId><version>2.6.13.Final</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
POM
plugin=org.apache.maven.plugins:maven-dependency-plugin:3.8.1
mvn -q -B "$plugin:copy-dependencies" -DoutputDirectory=lib
mvn -q -B "$plugin:copy" -Dartifact=io.apicurio:apicurio-registry-app:2.6.13.Final:tar.gz:all -DoutputDirectory=app
tar xzf app/*.tar.gz -C app
java -Dquarkus.http.port=18081 -Dquarkus.http.host=127.0.0.1 -jar app/apicurio-registry-app-2.6.13.Final-runner.jar >log 2>&1 &
registry=$!
cat > Ids.java <<'JAVA'
import com.google.protobuf.Timestamp; import io.apicurio.registry.serde.avro.*; import io.apicurio.registry.serde.protobuf.*;
import java.net.URI; import java.net.http.*; import java.util.*; import org.apache.avro.Schema; import org.apache.avro.generic.*;
public class Ids {
  static final String URL = "http://127.0.0.1:18081/apis/";
  static int status(String path) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(URL + path)).build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
  }
  public static void main(String[] a) throws Exception {
    for (boolean isUp = false; !isUp; Thread.sleep(500)) try { isUp = status("ccompat/v7/subjects") == 200; } catch (java.io.IOException e) { }
    var row = new GenericData.Record(new Schema.Parser().parse("{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"x\",\"type\":\"int\"}]}"));
    row.put("x", 1);
    for (String use : List.of("globalId", "contentId")) {
      Map<String, Object> settings = new HashMap<>(Map.of("apicurio.registry.url", URL + "registry/v2", "apicurio.registry.auto-register", true, "apicurio.registry.auto-register.if-exists", "RETURN_OR_UPDATE", "apicurio.registry.headers.enabled", false, "apicurio.registry.as-confluent", true));
      if (use.equals("contentId")) settings.put("apicurio.registry.use-id", use);
      for (String topic : List.of("first", "second")) {
        var serializer = new AvroKafkaSerializer<GenericRecord>();
        serializer.configure(settings, false);
        int id = java.nio.ByteBuffer.wrap(serializer.serialize(topic, row)).getInt(1);
        System.out.println(use + " " + topic + " id " + id + " HTTP " + status("ccompat/v7/schemas/ids/" + id));
      }
      if (use.equals("globalId")) continue;
      var serializer = new ProtobufKafkaSerializer<Timestamp>();
      serializer.configure(settings, false);
      byte[] bytes = serializer.serialize("third", Timestamp.getDefaultInstance());
      System.out.println("protobuf " + new String(bytes, 5, bytes.length - 5, "latin1").replaceAll("[^ -~]", "."));
    }
    System.exit(0);
  }
}
JAVA
java -cp 'lib/*' Ids.java | tee found
cat > expected <<'EXPECTED'
globalId first id 1 HTTP 200
globalId second id 2 HTTP 404
contentId first id 1 HTTP 200
contentId second id 1 HTTP 200
protobuf ...Timestamp
EXPECTED
cmp found expected
