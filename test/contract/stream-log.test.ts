import { kafkaTest } from '../fixture/kafka/kafka.ts';
import { kafkaWorld } from '../fixture/kafka/kafka-world.ts';
import { memoryWorld } from '../fixture/stream/memory-world.ts';
import { testStreamLog } from '../fixture/stream/stream-log-contract.ts';

testStreamLog('in memory', memoryWorld);
testStreamLog('on Kafka', kafkaWorld, kafkaTest);
