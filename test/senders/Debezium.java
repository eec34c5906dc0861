import io.debezium.engine.*; import io.debezium.engine.format.*; import java.nio.charset.StandardCharsets; import java.sql.*; import java.util.*; import java.util.concurrent.*;
/** Records what Debezium writes of an insert, an update and a deletion: debezium-embedded on the class path, the port of Postgres. */
public class Debezium {
  static List<String> changes(String port, Statement sql, String mode, String schemas) throws Exception {
    sql.execute("truncate readings");
    Properties p = new Properties();
    String[] settings = {"name", mode, "connector.class", "io.debezium.connector.postgresql.PostgresConnector", "offset.storage", "org.apache.kafka.connect.storage.MemoryOffsetBackingStore",
      "database.hostname", "127.0.0.1", "database.port", port, "database.user", "postgres", "database.password", "any", "database.dbname", "postgres", "topic.prefix", "shop-eu", "plugin.name", "pgoutput",
      "slot.name", mode, "slot.drop.on.stop", "true", "publication.name", mode, "table.include.list", "public.readings", "snapshot.mode", "no_data", "decimal.handling.mode", mode, "converter.schemas.enable", schemas};
    for (int i = 0; i < settings.length; i += 2) p.setProperty(settings[i], settings[i + 1]);
    BlockingQueue<String> written = new LinkedBlockingQueue<>();
    DebeziumEngine<ChangeEvent<String, String>> engine = DebeziumEngine.create(Json.class).using(p).notifying(change -> written.add(change.value() == null ? "" : change.value())).build();
    ExecutorService thread = Executors.newSingleThreadExecutor();
    thread.execute(engine);
    for (boolean isActive = false; !isActive; Thread.sleep(200)) { ResultSet r = sql.executeQuery("select count(*) from pg_replication_slots where active and slot_name = '" + mode + "'"); r.next(); isActive = r.getInt(1) == 1; }
    sql.execute("insert into readings values ('a', '2026-01-01 00:00:00.123456+00', '2026-01-01 00:00:00.5', -26588.24, 1.2345, 1152921504606847076)");
    sql.execute("update readings set amount = 12.50 where id = 'a'");
    sql.execute("delete from readings");
    List<String> found = new ArrayList<>();
    for (int i = 0; i < 4; i++) found.add(Base64.getEncoder().encodeToString(written.poll(60, TimeUnit.SECONDS).getBytes(StandardCharsets.UTF_8)));
    engine.close(); thread.shutdown();
    return found;
  }
  public static void main(String[] a) throws Exception {
    Statement sql = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + a[0] + "/postgres?user=postgres").createStatement();
    sql.execute("create table readings (id text primary key, at timestamptz, local timestamp, amount numeric(12,2) default 0, free numeric, big bigint)");
    StringJoiner modes = new StringJoiner(",");
    for (String mode : List.of("precise", "double")) modes.add("\"" + mode + "\":[\"" + String.join("\",\"", changes(a[0], sql, mode, String.valueOf(mode.equals("precise")))) + "\"]");
    System.out.println("{\"sender\":\"Debezium 3.5.0.Final, Postgres\",\"recorded\":\"" + java.time.LocalDate.now() + "\"," + modes + "}");
    System.exit(0);
  }
}
