import { join } from 'node:path';
import { cacheFolder } from '../config/cache-folder.ts';
import { readFlags } from '../config/command-line.ts';
import { integerFrom } from '../config/kinds.ts';
import { loadProcessConfig } from '../config/load.ts';
import { flagOnly, processOptions } from '../config/options.ts';
import { startKafka } from '../local-kafka/kafka-broker.ts';
import { aborted, DONE, FAILED, type RunnableCommand, sayProblems } from './command.ts';

const own = { port: flagOnly('port', integerFrom(1, 65_535), 9092, 'port of the broker on the loopback interface') };

/** A real Kafka for trying things out, without a container. */
export const brokerCommand: RunnableCommand = {
  name: 'broker',
  summary: 'Runs a single-node Apache Kafka on this machine (Java 17 and Maven), its data in DATA_DIR',
  options: [own.port, processOptions.dataDir],
  async run(_operands, flags, io) {
    const loaded = loadProcessConfig(flags, []);
    const read = readFlags(flags, own);
    if (loaded.kind === 'problems') return sayProblems(loaded.problems, io);
    if (read.kind === 'problems') return sayProblems(read.problems, io);
    const dataDir = join(loaded.config.dataDir, 'kafka');
    const broker = await startKafka({ cacheDir: cacheFolder(), dataDir, port: read.values.port });
    io.out(`Kafka is up. In another terminal: KAFKA_BROKERS=${broker.brokers.join(',')} npm start -- topics`);
    // Waiting for a signal does not keep a process alive.
    const alive = setInterval(() => {}, 60_000);
    const lost = await Promise.race([aborted(io.stop), broker.ended().then(() => true)]);
    clearInterval(alive);
    await broker.stop();
    if (lost) io.err(`Kafka ended by itself; ${join(dataDir, 'broker.log')} may say why`);
    return lost ? FAILED : DONE;
  },
};
