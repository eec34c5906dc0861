#!/bin/sh
# npm's prometheus-remote-write 0.5.1 compresses with Snappy and names no Content-Encoding. Prometheus takes that (a
# request without the header is Snappy there), so a receiver that reads it as it is named refuses every point.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --silent prometheus-remote-write@0.5.1 >/dev/null
cat > sent.cjs <<'JS'
const { createServer } = require('node:http');
const { pushTimeseries } = require('prometheus-remote-write');
const series = { labels: { __name__: 'queue' }, samples: [{ value: 5, timestamp: 1767225600000 }] };
const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  console.log(`content-encoding ${request.headers['content-encoding']}, body ${body.toString('hex')}`);
  response.writeHead(204).end();
  server.close();
}).listen(0, '127.0.0.1', () => {
  pushTimeseries(series, { url: `http://127.0.0.1:${server.address().port}/`, fetch });
});
JS
sent=$(node sent.cjs)
echo "prometheus-remote-write 0.5.1: $sent"
# A block of 39 bytes: its length, then literals.
case $sent in "content-encoding undefined, body 27"*) ;; *) exit 1 ;; esac
