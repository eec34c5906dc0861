#!/bin/sh
# vmagent takes a 400 for one block of samples as a refusal of zstd: it sends the same block again as Snappy, and every
# later block, too. A receiver that refuses some samples of a block with 400, as remote write demands, gets the others
# twice. At 409 the block is reported and not sent again.
set -eu
folder=$(mktemp -d)
trap 'kill $agent 2>/dev/null || true; rm -rf "$folder"' EXIT
agent=
cd "$folder"
module=github.com/VictoriaMetrics/VictoriaMetrics/app/vmagent@v1.151.0
GOBIN=$folder GOFLAGS=-mod=mod CGO_ENABLED=0 go install "$module"
echo "$module"
cat > server.mjs <<'JS'
import { createServer } from 'node:http';
const status = Number(process.argv[2]);
const seen = [];
createServer(async (request, response) => {
  if (request.method === 'GET') return response.end('# TYPE a gauge\na 1\n');
  await request.toArray();
  seen.push(request.headers['content-encoding']);
  // The first block alone is refused.
  response.writeHead(seen.length === 1 ? status : 204).end();
  if (seen.length < 4) return;
  console.log(`first answer ${status}, then 204: blocks were sent as ${seen.join(', ')}`);
  process.exit(seen[1] === (status === 400 ? 'snappy' : 'zstd') && seen[3] === seen[1] ? 0 : 1);
}).listen(48733, '127.0.0.1');
JS
printf 'global: { scrape_interval: 1s }\nscrape_configs: [{ job_name: a, static_configs: [{ targets: ["127.0.0.1:48733"] }] }]\n' > scrape.yml
for status in 400 409; do
  ./vmagent -promscrape.config=scrape.yml -remoteWrite.url=http://127.0.0.1:48733/write -remoteWrite.queues=1 \
    -remoteWrite.flushInterval=1s -remoteWrite.tmpDataPath="queue-$status" -httpListenAddr=127.0.0.1:0 2>agent.log &
  agent=$!
  timeout 60 node server.mjs "$status"
  kill $agent
  wait $agent 2>/dev/null || true
done
