"""The exporter in a separate process, with a given number of samples, until its standard input ends.

python metrics_process.py SAMPLES REQUEST_SECONDS ANSWER_SECONDS
"""

import asyncio
import sys
from functools import partial

from eeon_control.controller.metrics.http import HttpServer
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily


class Samples:
    """A given number of samples, of some 100 bytes each."""

    def __init__(self, count: int) -> None:
        self.count = count

    def collect(self):
        family = GaugeMetricFamily("sample", "one of many", labels=["number"])
        for number in range(self.count):
            family.add_metric([f"{number:080}"], number)
        return [family]


async def main() -> None:
    registry = CollectorRegistry()
    registry.register(Samples(int(sys.argv[1])))
    limits = {"request_seconds": float(sys.argv[2]), "answer_seconds": float(sys.argv[3])}
    server = HttpServer(registry, partial(asyncio.sleep, 0), **limits)
    print(await server.start("127.0.0.1", 0), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await server.close()
    print("ended", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
