"""Exports what it scrapes as counters of OpenTelemetry, every second: python otlp_counter.py CONFIG.json"""
import json, re, signal, sys, time, urllib.request
from opentelemetry.metrics import Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
config = json.load(open(sys.argv[1]))
if config["url"].endswith("/v1/metrics"):
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
else:
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
def jobs(_):
    text = urllib.request.urlopen(f"http://{config['scraped']}/metrics").read().decode()
    for queue, value in re.findall(r'jobs_total{queue="(\d)"} (\d+)', text):
        yield Observation(int(value), {"queue": queue})
exporter = OTLPMetricExporter(endpoint=config["url"], headers={"authorization": "Bearer " + config["key"]})
reader = PeriodicExportingMetricReader(exporter, export_interval_millis=1_000)
provider = MeterProvider(resource=Resource({"service.name": "test", "service.instance.id": "a"}), metric_readers=[reader])
provider.get_meter("test").create_observable_counter("jobs_total", [jobs])
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
while True:
    time.sleep(1)
