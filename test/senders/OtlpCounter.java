import io.opentelemetry.api.common.*; import io.opentelemetry.exporter.otlp.metrics.*; import io.opentelemetry.sdk.metrics.*;
import io.opentelemetry.sdk.metrics.export.*; import io.opentelemetry.sdk.resources.*;
import java.net.URI; import java.net.http.*; import java.nio.file.*; import java.time.Duration; import java.util.regex.*;
/** Exports what it scrapes as counters of OpenTelemetry over gRPC, every four seconds, since an export that is retried may take no longer: its argument names a file with what is scraped, an URL and a key, a line each. */
public class OtlpCounter {
  public static void main(String[] arguments) throws Exception {
    var config = Files.readAllLines(Path.of(arguments[0]));
    var http = HttpClient.newHttpClient();
    var scrape = HttpRequest.newBuilder(URI.create("http://" + config.get(0) + "/metrics")).build();
    var exporter = OtlpGrpcMetricExporter.builder().setEndpoint(config.get(1)).addHeader("authorization", "Bearer " + config.get(2)).build();
    var reader = PeriodicMetricReader.builder(exporter).setInterval(Duration.ofSeconds(4)).build();
    var resource = Resource.create(Attributes.of(AttributeKey.stringKey("service.name"), "test"));
    var provider = SdkMeterProvider.builder().setResource(resource).registerMetricReader(reader).build();
    provider.get("test").counterBuilder("jobs_total").buildWithCallback(result -> {
      try {
        var found = Pattern.compile("jobs_total\\{queue=\"(\\d)\"\\} (\\d+)").matcher(http.send(scrape, HttpResponse.BodyHandlers.ofString()).body());
        while (found.find()) result.record(Long.parseLong(found.group(2)), Attributes.of(AttributeKey.stringKey("queue"), found.group(1)));
      } catch (Exception error) { throw new RuntimeException(error); }
    });
    Runtime.getRuntime().addShutdownHook(new Thread(provider::close));
    Thread.sleep(Long.MAX_VALUE);
  }
}
