# SPDX-License-Identifier: BSD-3-Clause
"""sample.py PORT COUNT LIST…: an independent client that takes samples with XCP.

LIST is `EVENT,ADDRESS=TYPE,…`: the number of an event, and values, each with `IMAGE:OFFSET` in hexadecimal
and a type of pyxcp such as F64. When each list has COUNT samples, it prints them as JSON: for each list an
array of samples, each its time in nanoseconds and an array of values.
"""

import json
import logging
import sys
import time

from pyxcp import Master
from pyxcp.config import create_application_from_config, set_application
from pyxcp.daq_stim import DaqList, DaqOnlinePolicy


class Collector(DaqOnlinePolicy):
    def initialize(self):
        self.samples = [[] for _ in self.daq_lists]
        # Values arrive in another order than that of the list.
        self.names = [[header[0] for header in daq_list.headers] for daq_list in self.daq_lists]

    def on_daq_list(self, daq_list, _, timestamp, payload):
        values = dict(zip(self.names[daq_list], payload))
        self.samples[daq_list].append((timestamp, [values[f"value{index}"] for index in range(len(values))]))

    def finalize(self):
        pass


def made(number, text):
    event, *entries = text.split(",")
    values = []
    for index, entry in enumerate(entries):
        place, kind = entry.split("=")
        image, offset = (int(part, 16) for part in place.split(":"))
        values.append((f"value{index}", offset, image, kind))
    return DaqList(
        name=f"list{number}",
        event_num=int(event),
        stim=False,
        enable_timestamps=True,
        measurements=values,
        priority=0,
        prescaler=1,
    )


def main():
    port, count, *texts = sys.argv[1:]
    settings = {"host": "127.0.0.1", "port": int(port), "protocol": "TCP"}
    application = create_application_from_config(
        {"Transport": {"timeout": 60.0, "Eth": settings}}, log_level=logging.CRITICAL
    )
    set_application(application)
    collector = Collector([made(number, text) for number, text in enumerate(texts)])
    with Master("eth", config=application, policy=collector) as master:
        master.connect()
        collector.setup()
        collector.start()
        end = time.monotonic() + 60
        while time.monotonic() < end and min(map(len, collector.samples)) < int(count):
            time.sleep(0.01)
        collector.stop()
        master.disconnect()
    print(json.dumps(collector.samples))


main()
