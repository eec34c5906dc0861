#!/bin/sh
# Alertmanager: an end that is posted once is lost if a silence covers the alert, or if Alertmanager restarts, before the
# group is flushed: receivers are never notified that the alert is resolved. The same end, posted again, resolves it
# once. The module lacks its web page, so the script adds an empty one.
set -eu
folder=$(mktemp -d)
trap 'kill $alertmanager $hook 2>/dev/null || true; chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
alertmanager= hook=
cd "$folder"
module=github.com/prometheus/alertmanager@v0.35.0
cp -r "$(go mod download -json "$module" | sed -n 's/.*"Dir": "\(.*\)",*/\1/p')" source
chmod -R u+w source
mkdir -p source/ui/app/dist
echo '<html></html>' > source/ui/app/dist/index.html
(cd source && CGO_ENABLED=0 go build -buildvcs=false -o ../alertmanager ./cmd/alertmanager)
echo "$module"
cat > config.yml <<'YML'
route: { receiver: hook, group_by: [event], group_wait: 0s, group_interval: 5s, repeat_interval: 1h }
receivers: [{ name: hook, webhook_configs: [{ url: "http://127.0.0.1:48733", send_resolved: true }] }]
YML
cat > hook.mjs <<'JS'
import { createServer } from 'node:http';
createServer(async (request, response) => {
  const { status, alerts } = JSON.parse((await request.toArray()).join(''));
  console.log(`${alerts[0].labels.event} ${status}`);
  response.end();
}).listen(48733, '127.0.0.1');
JS
node hook.mjs > hook.log & hook=$!
api=http://127.0.0.1:48734/api/v2
start() {
  ./alertmanager --config.file=config.yml --storage.path=data --web.listen-address=127.0.0.1:48734 \
    --cluster.listen-address= 2>log & alertmanager=$!
  until curl -sf http://127.0.0.1:48734/-/ready >/dev/null; do sleep 1; done
}
at() { node -p "new Date(Date.now() + $1 * 1000).toISOString()"; }
post() { curl -sf "$api/$1" -H 'content-type: application/json' -d "$2"; }
alert() { post alerts "[{\"labels\":{\"event\":\"$1\"},\"startsAt\":\"$begun\",\"endsAt\":\"$2\"}]"; }
lines() { sort hook.log | tr '\n' ';'; }
begun=$(at -60)
start
alert silenced "$(at 240)"
alert restarted "$(at 240)"
sleep 2
match='[{"name":"event","value":"silenced","isRegex":false}]'
post silences "{\"matchers\":$match,\"startsAt\":\"$(at 0)\",\"endsAt\":\"$(at 12)\",\"createdBy\":\"a\",\"comment\":\"a\"}"
end=$(at 0)
alert silenced "$end"
alert restarted "$end"
kill $alertmanager
wait $alertmanager || true
start
alert silenced "$end"
sleep 20
once=$(lines)
alert silenced "$end"
alert restarted "$end"
sleep 8
again=$(lines)
echo "posted once: $once"
echo "posted again: $again"
[ "$once" = 'restarted firing;silenced firing;' ]
[ "$again" = 'restarted firing;restarted resolved;silenced firing;silenced resolved;' ]
