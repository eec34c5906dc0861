import { kafkaTest } from '../fixture/kafka.ts';
import { kafkaWorld } from '../fixture/kafka-world.ts';
import { memoryWorld } from '../fixture/memory-world.ts';
import { testStreamLog } from '../fixture/stream-log-contract.ts';

testStreamLog('in memory', memoryWorld);
testStreamLog('on Kafka', kafkaWorld, kafkaTest);
