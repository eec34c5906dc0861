#!/bin/sh
# Kafka 4.3.1: the offset of a time (ListOffsets, offsetsForTimes) may be that of a transaction's marker, also with
# read_committed. A marker has the time of the broker's clock. If records are older than it, as in a backlog or with
# times of events, the first marker is newer than each time that is requested, so the answer is near the start of the
# topic instead of at the first record of that time. The same records without transactions give the right offset.
set -eu
folder=$(mktemp -d)
trap 'kill $broker 2>/dev/null || true; wait $broker 2>/dev/null || true; rm -rf "$folder"' EXIT
broker=
cd "$folder"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>x</groupId><artifactId>x</artifactId><version>1</version><packaging>pom</packaging><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.3.1</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
POM
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory=lib
cat > broker.properties <<'CONF'
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:48742
listeners=PLAINTEXT://127.0.0.1:48741,CONTROLLER://127.0.0.1:48742
advertised.listeners=PLAINTEXT://127.0.0.1:48741
controller.listener.names=CONTROLLER
log.dirs=data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
CONF
java -cp 'lib/*' kafka.tools.StorageTool format --standalone -t AAAAAAAAAAAAAAAAAAAAAQ -c broker.properties >format.log
java -cp 'lib/*' -Xmx512m kafka.Kafka broker.properties >broker.log 2>&1 & broker=$!
cat > Times.java <<'JAVA'
import java.time.Instant; import java.util.*; import org.apache.kafka.clients.admin.*; import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*; import org.apache.kafka.common.TopicPartition; import org.apache.kafka.common.serialization.*;
public class Times {
  public static void main(String[] a) throws Exception {
    var servers = Map.<String, Object>of("bootstrap.servers", "127.0.0.1:48741");
    long first = Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();
    try (var admin = Admin.create(servers)) {
      admin.createTopics(List.of(new NewTopic("plain", 1, (short) 1), new NewTopic("transactions", 1, (short) 1))).all().get();
    }
    for (String topic : List.of("plain", "transactions")) {
      var settings = new HashMap<>(servers);
      boolean isTransactional = topic.equals("transactions");
      if (isTransactional) settings.put("transactional.id", "t");
      try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
        if (isTransactional) producer.initTransactions();
        for (int minute = 0; minute < 5; minute++) {
          if (isTransactional) producer.beginTransaction();
          producer.send(new ProducerRecord<>(topic, 0, first + minute * 60_000L, "key", "minute " + minute)).get();
          if (isTransactional) producer.commitTransaction();
        }
      }
      settings = new HashMap<>(servers);
      settings.put("isolation.level", "read_committed");
      try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
        var partition = new TopicPartition(topic, 0);
        var found = consumer.offsetsForTimes(Map.of(partition, first + 4 * 60_000L)).get(partition);
        consumer.assign(List.of(partition));
        consumer.seek(partition, found.offset());
        ConsumerRecords<String, String> records = ConsumerRecords.empty();
        while (records.isEmpty()) records = consumer.poll(java.time.Duration.ofSeconds(1));
        boolean isOfClock = Math.abs(found.timestamp() - System.currentTimeMillis()) < 600_000;
        System.out.println(topic + ": from minute 4 on begins with " + records.iterator().next().value() + ", offset "
          + found.offset() + ", time of " + (isOfClock ? "the broker's clock" : "a record"));
      }
    }
  }
}
JAVA
java -cp 'lib/*' Times.java | tee seen
cat > expected <<'TXT'
plain: from minute 4 on begins with minute 4, offset 4, time of a record
transactions: from minute 4 on begins with minute 1, offset 1, time of the broker's clock
TXT
diff expected seen
