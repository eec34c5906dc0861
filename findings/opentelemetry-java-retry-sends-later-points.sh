#!/bin/sh
# OpenTelemetry's Java SDK: a retry that outlasts the interval of its reader sends other points. The reader logs "Exporter
# timed out" and collects again, while the exporter retries from the memory that the reader has reused: what the server
# refused for now (UNAVAILABLE) never arrives, and a later collection arrives twice.
set -eu
folder=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; rm -rf "$folder"' EXIT
server=
cd "$folder"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>x</groupId><artifactId>x</artifactId><version>1</version><packaging>pom</packaging><dependencies>
<dependency><groupId>io.opentelemetry</groupId><artifactId>opentelemetry-sdk</artifactId><version>1.68.0</version></dependency>
<dependency><groupId>io.opentelemetry</groupId><artifactId>opentelemetry-exporter-otlp</artifactId><version>1.68.0</version></dependency>
</dependencies></project>
POM
cat > Finding.java <<'JAVA'
import io.opentelemetry.exporter.otlp.metrics.OtlpGrpcMetricExporter;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.export.PeriodicMetricReader;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

public class Finding {
  static final AtomicInteger collections = new AtomicInteger();

  public static void main(String[] arguments) throws Exception {
    var exporter = OtlpGrpcMetricExporter.builder().setEndpoint("http://127.0.0.1:48734").build();
    var reader = PeriodicMetricReader.builder(exporter).setInterval(Duration.ofSeconds(1)).build();
    var provider = SdkMeterProvider.builder().registerMetricReader(reader).build();
    provider.get("a").gaugeBuilder("a").buildWithCallback(result -> result.record(1e6 + collections.incrementAndGet()));
    Thread.sleep(12_000);
    Runtime.getRuntime().halt(0);
  }
}
JAVA
cat > server.mjs <<'JS'
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
const path = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';
const asIs = (bytes) => bytes;
const codec = { requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs };
const doubles = Array.from({ length: 30 }, (_, n) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(1e6 + n);
  return bytes;
});
const answers = [];
const server = new Server();
server.addService({ Export: { path, requestStream: false, responseStream: false, ...codec } }, {
  Export({ request }, answer) {
    const isRefused = answers.length < 2;
    const collection = doubles.findIndex((bytes) => request.includes(bytes));
    answers.push(`${isRefused ? 'refused' : 'taken'} ${collection}`);
    if (answers.length === 6) console.log(answers.join(', '));
    if (isRefused) answer({ code: status.UNAVAILABLE, details: 'try again' });
    else answer(null, Buffer.alloc(0));
  },
});
server.bindAsync('127.0.0.1:48734', ServerCredentials.createInsecure(), () => {});
JS
npm install --silent --no-audit --no-fund @grpc/grpc-js@1.14.7 >/dev/null 2>&1
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory=libs \
  -DincludeScope=runtime >/dev/null
node server.mjs > server.log &
server=$!
java -cp 'libs/*' Finding.java 2> sdk.log
echo "opentelemetry-sdk 1.68.0, $(grep -c 'Exporter timed out' sdk.log) times 'Exporter timed out': $(cat server.log)"
grep -q 'refused 1, refused 1' server.log
if grep -q 'taken 1' server.log; then exit 1; fi
grep -qE 'taken ([0-9]+), taken \1' server.log
