"""Writes what it scrapes by the client of InfluxDB 1, every second, after both clients have pinged: python influx_counter.py CONFIG.json"""
import json, re, sys, time, urllib.request
from urllib.parse import urlsplit
import influxdb, influxdb_client
config = json.load(open(sys.argv[1]))
url = urlsplit(config["url"])
client = influxdb.InfluxDBClient(url.hostname, url.port, username="any", password=config["key"], database="metrics")
print(client.ping(), influxdb_client.InfluxDBClient(url=config["url"], token="any").ping(), flush=True)
client.create_database("metrics")
assert {"name": "metrics"} in client.get_list_database()
while True:
    started = time.time()
    text = urllib.request.urlopen(f"http://{config['scraped']}/metrics").read().decode()
    points = [
        {"measurement": "jobs_total", "tags": {"queue": queue}, "time": int(started * 1000), "fields": {"value": int(value)}}
        for queue, value in re.findall(r'jobs_total{queue="(\d)"} (\d+)', text)
    ]
    try:
        client.write_points(points, time_precision="ms")
    except Exception as error:
        print(error, flush=True)
    time.sleep(max(0, started + 1 - time.time()))
