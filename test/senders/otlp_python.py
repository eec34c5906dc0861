"""Records what OpenTelemetry's Python SDK sends, as base64 of each request: python record.py > FILE.json"""
import base64, json, sys, threading, time, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.metrics import Observation
from opentelemetry.sdk.metrics import MeterProvider, Counter, Histogram, UpDownCounter, ObservableCounter
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader, AggregationTemporality
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk import version
got = []
class H(BaseHTTPRequestHandler):
    def do_POST(self):
        got.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200); self.end_headers()
    def log_message(self, *a): pass
s = HTTPServer(("127.0.0.1", 0), H); threading.Thread(target=s.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{s.server_port}/v1/metrics"
def provider(attributes, temporality):
    kinds = {k: temporality for k in (Counter, Histogram, UpDownCounter, ObservableCounter)}
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=url, preferred_temporality=kinds), export_interval_millis=3_600_000)
    return MeterProvider(resource=Resource(attributes), metric_readers=[reader])
def taken(name, work):
    got.clear(); work(); return name, [base64.b64encode(b).decode() for b in got]
D, C = AggregationTemporality.DELTA, AggregationTemporality.CUMULATIVE
def identity():
    for pod in ("shop-a", "shop-b"):
        p = provider({"service.name": "shop", "k8s.pod.name": pod, "k8s.pod.uid": "u-" + pod, "host.ip": ["10.0.0.1"], "service.version": "1." + pod[-1]}, C)
        for scope in ("cache", "db"):
            p.get_meter(scope, "1.0", attributes={"shard": scope}).create_counter("hits").add(1 if scope == "cache" else 2, {"zones": ["a", "b"], "ports": [80, 443]})
        p.force_flush(); p.shutdown()
def hidden():
    for service in ("shop", "depot"):
        p = provider({"service.name": service, "k8s.pod.name": service + "-a"}, C)
        p.get_meter("test").create_counter("runs").add(1 if service == "shop" else 2, {"job": "nightly", "k8s.pod.name": "worker-1", "host.name": ""})
        p.get_meter("test").create_counter("same").add(3, {"job": service})
        p.force_flush(); p.shutdown()
def sums(temporality):
    def work():
        p = provider({"service.name": "shop", "service.instance.id": "a"}, temporality)
        m = p.get_meter("test"); c = m.create_counter("orders"); h = m.create_histogram("seconds")
        for n in (3, 5, 2, 7):
            c.add(n); [h.record(0.5) for _ in range(n)]
            time.sleep(0.05); p.force_flush()
        p.shutdown()
    return work
def large():
    p = provider({"service.name": "shop", "service.instance.id": "a"}, C)
    m = p.get_meter("test"); c = m.create_counter("bytes"); c.add(2 ** 60); total = [2 ** 60]
    m.create_observable_gauge("bytes_gauge", [lambda _: [Observation(total[0])]])
    for _ in range(5):
        c.add(100); total[0] += 100; time.sleep(0.02); p.force_flush()
    p.shutdown()
out = dict([taken("identity", identity), taken("hidden", hidden), taken("delta", sums(D)), taken("cumulative", sums(C)), taken("large", large)])
print(json.dumps({"sender": "opentelemetry-sdk for Python " + version.__version__, "recorded": str(datetime.date.today()), **out}, indent=1))
