#!/bin/sh
# Prometheus: remote write 2.0 does not fall back to 1.0 at 415, although the receiver names the media type: all samples
# are dropped. A 204 without the three Written headers is a failure, too, and the samples count as failed.
set -eu
folder=$(mktemp -d)
trap 'kill $prometheus 2>/dev/null || true; rm -rf "$folder"' EXIT
prometheus=
cd "$folder"
module=github.com/prometheus/prometheus/cmd/prometheus@v0.316.0
GOBIN=$folder GOFLAGS=-mod=mod CGO_ENABLED=0 go install "$module"
echo "$module"
cat > server.mjs <<'JS'
import { createServer } from 'node:http';
const [status, written] = [Number(process.argv[2]), process.argv[3] === 'written'];
const versions = new Set();
createServer(async (request, response) => {
  if (request.method === 'GET') return response.end('# TYPE a gauge\na 1\n');
  await request.toArray();
  versions.add(request.headers['x-prometheus-remote-write-version']);
  if (written) response.setHeader('x-prometheus-remote-write-samples-written', '1000');
  response.writeHead(status, { accept: 'application/x-protobuf;proto=prometheus.WriteRequest' }).end();
}).listen(48731, '127.0.0.1');
setTimeout(async () => {
  const text = await (await fetch('http://127.0.0.1:48732/metrics')).text();
  const failed = Number(/^prometheus_remote_storage_samples_failed_total\{.*\} (\d+)/m.exec(text)?.[1]);
  console.log(`${status}${written ? ' with' : ' without'} Written headers: versions ${[...versions]}, ${failed} failed`);
  process.exit([...versions].join() === '2.0.0' && failed > 0 === !written ? 0 : 1);
}, 15_000);
JS
cat > prometheus.yml <<'YML'
global: { scrape_interval: 1s }
scrape_configs: [{ job_name: a, static_configs: [{ targets: ["127.0.0.1:48731"] }] }]
remote_write:
  - url: http://127.0.0.1:48731/write
    protobuf_message: io.prometheus.write.v2.Request
    queue_config: { batch_send_deadline: 1s }
YML
for answer in "415 bare" "204 bare" "204 written"; do
  rm -rf data
  ./prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address=127.0.0.1:48732 2>log &
  prometheus=$!
  node server.mjs $answer
  kill $prometheus
  wait $prometheus 2>/dev/null || true
done
