# SPDX-License-Identifier: BSD-3-Clause
"""Prints what prometheus_client's parser of OpenMetrics reads from standard input, a line of JSON for each sample."""

import json
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families

for family in text_string_to_metric_families(sys.stdin.buffer.read().decode()):
    for sample in family.samples:
        print(json.dumps({"family": family.name, "type": family.type, "help": family.documentation,
                          "name": sample.name, "labels": sample.labels, "value": str(sample.value)}))
