import java.math.*; import java.util.*; import java.nio.charset.StandardCharsets;
import org.apache.kafka.connect.data.*; import org.apache.kafka.connect.json.JsonConverter;
/** Records what the JSON converter of Kafka Connect writes of decimals: connect-json on the class path. */
public class ConnectJson {
  public static void main(String[] a) {
    Schema money = Decimal.builder(2).optional().build();
    Schema variable = SchemaBuilder.struct().name("io.debezium.data.VariableScaleDecimal").optional().field("scale", Schema.INT32_SCHEMA).field("value", Schema.BYTES_SCHEMA).build();
    Schema row = SchemaBuilder.struct().name("row").field("id", Schema.STRING_SCHEMA).field("at", Schema.INT64_SCHEMA).field("amount", money).field("count", Decimal.schema(0)).field("ratio", Schema.FLOAT64_SCHEMA).field("raw", Schema.OPTIONAL_BYTES_SCHEMA).field("free", variable).field("parts", SchemaBuilder.array(Decimal.schema(3)).build()).build();
    Schema envelope = SchemaBuilder.struct().name("envelope").field("after", row).field("op", Schema.STRING_SCHEMA).build();
    List<String> out = new ArrayList<>();
    for (String format : List.of("BASE64", "NUMERIC")) for (String amount : format.equals("BASE64") ? List.of("-26588.24", "12.50") : List.of("-26588.24")) {
      JsonConverter c = new JsonConverter();
      c.configure(Map.of("schemas.enable", "true", "decimal.format", format, "converter.type", "value"));
      Struct free = new Struct(variable).put("scale", 4).put("value", new BigDecimal("1.2345").unscaledValue().toByteArray());
      Struct s = new Struct(row).put("id", "a").put("at", 1767225600000L).put("amount", new BigDecimal(amount)).put("count", new BigDecimal("1152921504606847076")).put("ratio", 0.5).put("raw", new byte[]{(byte)0xd7,(byte)0x6d,(byte)0xf8}).put("free", free).put("parts", List.of(new BigDecimal("1.500"), new BigDecimal("-2.250")));
      out.add(new String(c.fromConnectData("t", envelope, new Struct(envelope).put("after", s).put("op", "c")), StandardCharsets.UTF_8));
    }
    System.out.println("{\"sender\":\"JsonConverter of Kafka Connect 4.3.1\",\"recorded\":\"" + java.time.LocalDate.now() + "\",\"decimals\":[" );
    for (int i = 0; i < out.size(); i++) System.out.println("\"" + Base64.getEncoder().encodeToString(out.get(i).getBytes(StandardCharsets.UTF_8)) + (i + 1 < out.size() ? "\"," : "\""));
    System.out.println("]}");
  }
}
