#!/bin/sh
# nixtla (TimeGPT client) 0.9.0: detect_anomalies() of a polars frame fails with a valid answer of any service, because
# the client passes the list of sizes to utilsforecast's repeat(), which polars cannot cast. forecast(add_history=True)
# fails alike. With num_partitions=1 the same answer is read, because the client joins the sizes as an array.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check nixtla==0.9.0 polars==1.31.0
env/bin/python -W ignore - <<'PYTHON'
import datetime, http.server, json, logging, sys, threading
import nixtla, polars

class Service(http.server.BaseHTTPRequestHandler):
    """Answers as the hosted service does: rows for every value, sizes as a JSON list of integers."""
    def answer(self, body):
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
    def do_GET(self):
        self.answer({"detail": {"input_size": 120, "horizon": 24}})
    def do_POST(self):
        series = json.loads(self.rfile.read(int(self.headers["content-length"])))["series"]
        rows = len(series["y"])
        intervals = {"lo-99": [0.0] * rows, "hi-99": [1.0] * rows}
        self.answer({"mean": [0.5] * rows, "sizes": series["sizes"], "anomaly": [False] * rows, "intervals": intervals, "weights_x": None})
    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
logging.disable(logging.CRITICAL)
client = nixtla.NixtlaClient(base_url=f"http://127.0.0.1:{server.server_port}", api_key="any")
start = datetime.datetime(2026, 1, 1)
times = [start + datetime.timedelta(hours=i) for i in range(48)]
frame = polars.DataFrame({"unique_id": ["a"] * 48, "ds": times, "y": [float(i % 24) for i in range(48)]})

def outcome(**options):
    try:
        return f"{len(client.detect_anomalies(frame, freq='1h', level=99, **options))} rows"
    except Exception as error:
        return f"{type(error).__name__}: {error}"

print("nixtla", nixtla.__version__, "polars", polars.__version__)
print("detect_anomalies(polars frame):", outcome())
print("with num_partitions=1:", outcome(num_partitions=1))
sys.exit(0 if "cannot cast List" in outcome() and outcome(num_partitions=1) == "48 rows" else 1)
PYTHON
