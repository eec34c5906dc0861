#!/bin/sh
# Fluent Bit 5.1.1: the output influxdb takes every answer for a success, so what a server refuses with 503 is lost
# whatever retry_limit is; prometheus_remote_write sends the same points again. A metric without _ in its name has its
# first label as its measurement, or none. The input prometheus_scrape loses a whole scrape that has a name with a colon.
# FLUENT_BIT names a binary of this version; without it, git, CMake, flex, bison and OpenSSL's headers build one.
set -eu
folder=$(mktemp -d)
trap 'kill $server $agent 2>/dev/null || true; rm -rf "$folder"' EXIT
server= agent=
cd "$folder"
if [ -z "${FLUENT_BIT:-}" ]; then
  git clone -q --depth 1 --branch v5.1.1 https://github.com/fluent/fluent-bit source
  cmake -S source -B build -DFLB_CONFIG_YAML=Off -DFLB_LUAJIT=Off -DFLB_WASM=Off -DFLB_KAFKA=Off >/dev/null
  cmake --build build -j2 --target fluent-bit-bin >/dev/null
  FLUENT_BIT=$folder/build/bin/fluent-bit
fi
"$FLUENT_BIT" --version | head -1
cat > server.mjs <<'JS'
import { createServer } from 'node:http';
import { appendFileSync } from 'node:fs';
let scrapes = 0;
createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  if (request.method === 'GET') {
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    const colon = request.url === '/colon' ? 'job:load:sum 1\n' : '';
    return response.end(`# TYPE load gauge\nload{host="a"} ${++scrapes}\n# TYPE up gauge\nup 1\n${colon}`);
  }
  const isLine = request.url.startsWith('/write?');
  appendFileSync('requests', `${request.url} ${isLine ? String(body).split('\n').join(' ; ') : body.toString('hex')}\n`);
  response.writeHead(503).end();
}).listen(48741, '127.0.0.1');
JS
node server.mjs & server=$!
agent() { # output, path of the scrape, further lines of the output
  : > requests
  cat > agent.conf <<CONF
[SERVICE]
    flush 1
    log_level error
    scheduler.base 1
    scheduler.cap 2
[INPUT]
    name prometheus_scrape
    host 127.0.0.1
    port 48741
    metrics_path $2
    scrape_interval 1s
[OUTPUT]
    name $1
    match *
    host 127.0.0.1
    port 48741
    retry_limit no_limits
    $3
CONF
  "$FLUENT_BIT" -c agent.conf > agent.log 2>&1 & agent=$!
  sleep 12
  kill -9 $agent
  wait $agent 2>/dev/null || true
}
repeated() { sort requests | uniq -d | wc -l; }
agent influxdb /metrics 'database any'
echo "influxdb, refused with 503: $(wc -l < requests) requests, $(repeated) of them again"
head -1 requests
[ "$(wc -l < requests)" -gt 3 ]
[ "$(repeated)" = 0 ]
head -1 requests | grep -q ' host=a load=[0-9]* [0-9]* ; up=1 [0-9]* ;'
agent prometheus_remote_write /metrics 'uri /api/v1/write'
echo "prometheus_remote_write, refused with 503: $(repeated) requests again"
[ "$(repeated)" -gt 0 ]
agent influxdb /colon 'database any'
echo "a scrape with job:load:sum: $(wc -l < requests) requests; $(grep -o 'error decoding.*' agent.log | head -1)"
[ "$(wc -l < requests)" = 0 ]
grep -q 'error decoding Prometheus Text format' agent.log
