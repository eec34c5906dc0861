import { kafkaTest } from '../fixture/kafka/kafka.ts';
import { kafkaWorld } from '../fixture/kafka/kafka-world.ts';
import { memoryWorld } from '../fixture/stream-log/memory-world.ts';
import { testStreamLog } from '../fixture/stream-log/stream-log-contract.ts';

testStreamLog('in memory', memoryWorld);
testStreamLog('on Kafka', kafkaWorld, kafkaTest);
