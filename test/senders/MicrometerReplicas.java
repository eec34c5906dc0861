import io.micrometer.core.instrument.*; import io.micrometer.registry.otlp.*; import java.time.Duration; import java.util.*;
/** Pushes to the URL that it is given, with micrometer-registry-otlp on the class path: two replicas of one service without an instance id, as Spring Boot has them, whose counters rise by 10 and 7 a push. */
public class MicrometerReplicas {
  static OtlpMeterRegistry registry(String url) {
    OtlpConfig config = new OtlpConfig() {
      public String get(String key) { return null; }
      public String url() { return url; }
      public Duration step() { return Duration.ofHours(1); }
      public Map<String, String> resourceAttributes() { return Map.of("service.name", "shop"); }
    };
    return new OtlpMeterRegistry(config, Clock.SYSTEM) { @Override public void close() { } };
  }
  public static void main(String[] a) throws Exception {
    OtlpMeterRegistry one = registry(a[0]); one.counter("orders").increment(1000); Thread.sleep(2500);
    OtlpMeterRegistry two = registry(a[0]); two.counter("orders").increment(3);
    var publish = OtlpMeterRegistry.class.getDeclaredMethod("publish"); publish.setAccessible(true);
    for (int i = 0; i < 4; i++) { one.counter("orders").increment(10); publish.invoke(one); Thread.sleep(60); two.counter("orders").increment(7); publish.invoke(two); Thread.sleep(60); }
    System.exit(0);
  }
}
