import io.micrometer.core.instrument.*; import io.micrometer.influx.*;
import java.net.URI; import java.net.http.*; import java.nio.file.*; import java.util.*; import java.util.regex.*;
/** Publishes what it scrapes every second; other settings are those that the registry has. Its argument names a file with what is scraped, an URL and a key, a line each. */
public class MicrometerInflux {
  static final Map<String, Double> jobs = new HashMap<>();
  public static void main(String[] arguments) throws Exception {
    var config = Files.readAllLines(Path.of(arguments[0]));
    var settings = Map.of("influx.uri", config.get(1), "influx.userName", "any", "influx.password", config.get(2), "influx.step", "1s");
    var http = HttpClient.newHttpClient();
    var scrape = HttpRequest.newBuilder(URI.create("http://" + config.get(0) + "/metrics")).build();
    InfluxConfig influx = settings::get;
    var registry = new InfluxMeterRegistry(influx, Clock.SYSTEM) {
      @Override protected void publish() {
        try {
          var found = Pattern.compile("jobs_total\\{queue=\"(\\d)\"\\} (\\d+)").matcher(http.send(scrape, HttpResponse.BodyHandlers.ofString()).body());
          while (found.find()) jobs.put(found.group(1), Double.valueOf(found.group(2)));
        } catch (Exception error) { throw new RuntimeException(error); }
        super.publish();
      }
    };
    for (String queue : List.of("0", "1", "2")) Gauge.builder("jobs_total", () -> jobs.get(queue)).tag("queue", queue).register(registry);
    Thread.sleep(Long.MAX_VALUE);
  }
}
