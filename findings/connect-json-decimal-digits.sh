#!/bin/sh
# Kafka Connect's JSON converter writes a Decimal as base64 by default, and base64 may be digits alone: -26588.24 is the
# text "1234". Without the schema a reader gets another number, and no error.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>x</groupId><artifactId>x</artifactId><version>1</version><packaging>pom</packaging><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>connect-json</artifactId><version>4.3.1</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
POM
cat > Finding.java <<'JAVA'
import java.math.BigDecimal;
import java.util.Map;
import org.apache.kafka.connect.data.*;
import org.apache.kafka.connect.json.JsonConverter;

public class Finding {
  public static void main(String[] arguments) {
    Schema row = SchemaBuilder.struct().field("amount", Decimal.schema(2)).build();
    JsonConverter converter = new JsonConverter();
    converter.configure(Map.of("converter.type", "value", "schemas.enable", "false"));
    Struct value = new Struct(row).put("amount", new BigDecimal("-26588.24"));
    System.out.print(new String(converter.fromConnectData("topic", row, value)));
  }
}
JAVA
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory=libs \
  -DincludeScope=runtime >/dev/null
written=$(java -cp 'libs/*' Finding.java)
echo "connect-json 4.3.1 writes -26588.24 as $written"
test "$written" = '{"amount":"1234"}'
