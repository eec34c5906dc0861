#!/bin/sh
# protobufjs: Root.fromDescriptor gives a map field as a list of entries, not as a map, and marks the message that has
# the map as the map entry (option map_entry), although the descriptor marks the entry type alone.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund protobufjs@7.6.6
node -e "
const protobuf = require('protobufjs');
require('protobufjs/ext/descriptor');
console.log('protobufjs', require('protobufjs/package.json').version);
const text = 'syntax = \"proto3\"; package p; message Reading { map<string, string> tags = 1; }';
const { root } = protobuf.parse(text);
const again = protobuf.Root.fromDescriptor(root.toDescriptor('proto3'));
const [before, after] = [root, again].map((each) => each.lookupType('p.Reading'));
const bytes = before.encode({ tags: { zone: 'b' } }).finish();
console.log('of the text:', JSON.stringify(before.decode(bytes)), 'map:', before.fields.tags.map);
console.log('of the descriptor:', JSON.stringify(after.decode(bytes)), 'map:', after.fields.tags.map);
console.log('map_entry of Reading:', after.getOption('map_entry'));
process.exit(!after.fields.tags.map && after.getOption('map_entry') === true ? 0 : 1);
"
