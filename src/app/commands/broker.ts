import { join } from 'node:path';
import { commandFlag } from '../../config/options/option.ts';
import { processOptions } from '../../config/options/options.ts';
import { cacheFolder } from '../../config/process-environment.ts';
import { integerFrom } from '../../config/schema/kinds.ts';
import { startKafka } from '../../demo/local-kafka/kafka-broker.ts';
import { makeFolder } from '../../store/database/make-folder.ts';
import { aborted, DONE, FAILED } from '../../tools/terminal/command-io.ts';
import { command } from './command.ts';

const own = {
  port: commandFlag('port', integerFrom(1, 65_535), 'port of the broker on the loopback interface', 9092),
};

/** A local Kafka for development, without a container. */
export const brokerCommand = command({
  own,
  settings: { dataDir: processOptions.dataDir },
  async run({ values, config }, io) {
    const dataDir = join(config.dataDir, 'kafka');
    makeFolder(dataDir);
    const options = { cacheDir: cacheFolder(), dataDir, port: values.port, stop: io.stop };
    const broker = await startKafka(options).catch((error: unknown) => {
      if (io.stop.aborted) return null;
      throw error;
    });
    if (broker === null) return DONE;
    io.out(`Kafka is up. In another terminal: KAFKA_BROKERS=${broker.brokers.join(',')} npm start -- topics`);
    // A signal handler does not keep the process alive.
    const alive = setInterval(() => {}, 60_000);
    const lost = await Promise.race([aborted(io.stop), broker.ended().then(() => true)]);
    clearInterval(alive);
    await broker.stop();
    if (lost) io.err(`Kafka ended unexpectedly; ${join(dataDir, 'broker.log')} may have the reason`);
    return lost ? FAILED : DONE;
  },
});
