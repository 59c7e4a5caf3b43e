#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the page in a browser, with 10,000 tweaks; takes the arguments of run.py.

    measure.py --ui PATH --library PATH --header FOLDER [--figures FILE] [SECONDS]

SECONDS (default: 60) is how long to receive 1,000 changes a second, and five times as long monitors. Prints a table without judging it.
"""

import json
import os
import shutil
import sys
import time

import run


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def spread(values):
    if not values:
        return "no values"
    return {
        "median": round(percentile(values, 0.5), 1), "p99": round(percentile(values, 0.99), 1), "most": round(max(values), 1),
    }


def first_paint(world, browser, times=7):
    """The time from navigation to the first frame with rows, with or without cached files."""
    results = []
    for _ in range(times):
        browser.driver.get("about:blank")
        browser.driver.get(world.address.split("#")[0] + "#program=page-program")
        results.append(browser.driver.execute_async_script(
            """const done = arguments[0];
            const look = () => {
              if (document.querySelector('.row')) requestAnimationFrame(() => setTimeout(() => done(performance.now())));
              else requestAnimationFrame(look);
            };
            look();"""
        ))
    return spread(results)


def slow_load(world):
    """The first load at 50 kB/s with a latency of 300 ms: the first paint, and the first rows."""
    world.start_page_program()
    world.start_ui()
    driver = world.browser().driver
    driver.get("about:blank")
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.clearBrowserCache", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
        "offline": False, "latency": 300, "downloadThroughput": 50_000, "uploadThroughput": 50_000})
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
        const look = () => {
          if (document.querySelector('.row')) requestAnimationFrame(() => setTimeout(() => { globalThis.rowsSeen = performance.now(); }));
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);"""})
    driver.get(world.address + "&program=page-program")
    rows = run_until(lambda: driver.execute_script("return globalThis.rowsSeen"))
    figures = driver.execute_script(
        """const files = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
        return {"first paint, ms": Math.round(performance.getEntriesByType('paint')[0]?.startTime), "requests": files.length,
          "kB": Math.round(files.reduce((sum, {transferSize}) => sum + transferSize, 0) / 1000)};""")
    return {"rows, ms": round(rows), **figures}


def key_to_result(browser):
    """The time from a key in the search to the frame with the results. Keys arrive at any time of a frame, as from a person."""
    return spread(browser.driver.execute_async_script(
        """const done = arguments[0];
        (async () => {
          const search = document.querySelector('#search');
          const words = ['stiffness', 'gain 12', 'delay', '99', 'opacity 4', 'part 07', 'area 03 radius', 'x'];
          const times = [];
          const frame = () => new Promise(resolve => requestAnimationFrame(() => {
            const channel = new MessageChannel();
            channel.port1.onmessage = resolve;
            channel.port2.postMessage(0);
          }));
          search.focus();
          for (const word of words) {
            for (let length = 1; length <= word.length; length += 1) {
              await new Promise(resolve => setTimeout(resolve, 30 + Math.random() * 100));
              search.value = word.slice(0, length);
              const began = performance.now();
              search.dispatchEvent(new Event('input', {bubbles: true}));
              await frame();
              times.push(performance.now() - began);
            }
          }
          search.value = '';
          search.dispatchEvent(new Event('input', {bubbles: true}));
          done(times);
        })();"""
    ))


def drag_to_cell(world, browser, program, steps=120):
    """The time from an input event of a slider to the change in the program, both by the machine's clock."""
    key = "Kinds/Numbers/Stiffness"
    browser.row(key)
    control = world.control(program)
    control.ask("subscribe", tweaks=[key])
    inputs = browser.driver.execute_async_script(
        """const done = arguments[2];
        (async () => {
          const [key, steps] = arguments;
          const slider = document.querySelector(`[data-tweak="${key}"] .slider`);
          const post = tweaksPage.api.post;
          const inputs = [];
          // The page's own clock does not follow corrections of the machine's, which is read when it ticks.
          let now = Date.now();
          while (Date.now() === now);
          now = Date.now() - performance.now();
          let began = 0;
          tweaksPage.api.post = function (name, body) {
            if (name === 'set') inputs.push([Number(body.values[0].text), began]);
            return post.call(tweaksPage.api, name, body);
          };
          slider.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true, pointerType: 'mouse'}));
          let frame = new Promise(requestAnimationFrame);
          for (let step = 0; step < steps; step += 1) {
            await frame;
            // Before what the page asks for, as a browser has events of a mouse before the callbacks of their frame.
            frame = new Promise(requestAnimationFrame);
            began = now + performance.now();
            slider.value = 500 + step * 70;
            slider.dispatchEvent(new Event('input', {bubbles: true}));
          }
          slider.dispatchEvent(new Event('change', {bubbles: true}));
          await tweaksPage.editing.settled();
          delete tweaksPage.api.post;
          done(inputs);
        })();""",
        key, steps,
    )
    changed = {}
    while inputs[-1][0] not in changed:
        message = json.loads(control.lines.readline())
        for change in message.get("params", {}).get("changes", []):
            changed[change["newValue"]] = change["time"] * 1000
    times = [changed[value] - began for value, began in inputs if value in changed]
    return {**spread(times), "sent": len(inputs), "steps": steps}


def outside_change(world, browser, program, times=50):
    """From before a change by the socket of the program to the frame in which the field shows it."""
    key = "Kinds/Numbers/Stiffness"
    browser.row(key)
    control = world.control(program)
    browser.script(
        """const field = document.querySelector(`[data-tweak="${arguments[0]}"] .number-field`);
        globalThis.seen = new Map();
        let last = field.value;
        const look = () => {
          if (field.value !== last) seen.set(last = field.value, Date.now());
          requestAnimationFrame(look);
        };
        look();""",
        key,
    )
    began = {}
    for value in range(200, 200 + times):
        began[str(value)] = time.time() * 1000
        control.set(key, value)
        time.sleep(0.05)
    run_until(lambda: browser.script("return seen.has(arguments[0])", str(199 + times)))
    seen = browser.script("return Object.fromEntries(seen)")
    return {**spread([seen[value] - began[value] for value in seen if value in began]), "seen": len(seen), "of": times}


def resident(pid):
    """MB of memory that a process has, and seconds of a processor that it has taken."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        size = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return size / 1024, (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def flood(world, seconds):
    """1,000 changes a second: whether the page keeps up, and what it grows by."""
    program = world.start_page_program("flood", "10000")
    browser = world.browser(world.address + "&program=page-program~2")
    browser.connected()
    try:
        identity = run_until(lambda: browser.script(
            "return [...tweaksPage.state.programs.values()].find(one => one.description.pid === arguments[0])?.id", program.pid))
        browser.script("tweaksPage.commands.showScope({program: arguments[0]})", identity)
        run_until(lambda: browser.script("return tweaksPage.state.programs.get(arguments[0])?.isLoaded", identity))
        browser.script(
            """globalThis.flood = {changes: 0, batches: 0, late: [], frames: 0, slow: 0};
            tweaksPage.list.reveal(`${arguments[0]}\\nArea 00/Part 00/Stiffness 0`);
            const event = tweaksPage.api.onEvent;
            tweaksPage.api.onEvent = (name, data) => {
              if (name === 'changes') {
                flood.batches += 1;
                flood.changes += data.changes.length;
                flood.late.push(Date.now() - data.changes.at(-1).time * 1000);
              }
              event(name, data);
            };
            let last = performance.now();
            const look = now => {
              flood.frames += 1;
              if (now - last > 50) flood.slow += 1;
              last = now;
              requestAnimationFrame(look);
            };
            requestAnimationFrame(look);""",
            identity,
        )
        heap, memory = [], []
        took = resident(world.ui.pid)[1]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(min(5, seconds / 4))
            browser.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
            heap.append(browser.driver.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"] / 1e6)
            memory.append(resident(world.ui.pid)[0])
        took = resident(world.ui.pid)[1] - took
        result = browser.script("return {...flood, late: flood.late.slice(-600)}")
        return {
            "seconds": seconds, "changes a second": round(result["changes"] / seconds), "behind, ms": spread(result["late"]),
            "frames a second": round(result["frames"] / seconds, 1), "frames over 50 ms": result["slow"],
            "heap of the page, MB": [round(size, 1) for size in heap],
            "memory of the server, MB": [round(size, 1) for size in memory],
            "the server, of a core": round(took / seconds, 3),
        }
    finally:
        browser.close()
        world.end(program)


def scrolling(browser):
    """The longest task of the page while its whole list is scrolled, in ms; tasks below 50 ms count as 0."""
    return browser.driver.execute_async_script(
        """const done = arguments[0];
        (async () => {
          const tasks = [0];
          const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({duration}) => duration)));
          observer.observe({type: 'longtask'});
          const scroller = document.querySelector('#scroller');
          const steps = 600;
          for (let step = 0; step <= steps; step += 1) {
            scroller.scrollTop = (scroller.scrollHeight - scroller.clientHeight) * step / steps;
            await new Promise(requestAnimationFrame);
          }
          await new Promise((resolve) => setTimeout(resolve, 200));
          observer.disconnect();
          scroller.scrollTop = 0;
          done(Math.max(...tasks));
        })();"""
    )


def processor_time(root):
    """Seconds of a processor that a process and its descendants have taken."""
    parents, times = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                words = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(pid)] = int(words[1])
        times[int(pid)] = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def is_below(pid):
        return pid == root or pid in parents and is_below(parents[pid])

    return sum(time for pid, time in times.items() if is_below(pid))


def monitors(seconds):
    """Eight monitors on a graph with 1,000 samples a second: what the browser takes, of a core, and the samples it has."""
    from support import World

    world = World("monitors")
    try:
        world.start_page_program()
        world.start_page_program()
        world.start_ui()
        browser = world.browser()
        browser.connected()
        run_until(lambda: browser.script(
            "return tweaksPage.state.programs.size === 2 && [...tweaksPage.state.programs.values()].every(one => one.isLoaded)"))
        browser.script(
            """const {state, commands, samples} = tweaksPage;
            commands.graph([...state.programs.values()].flatMap(one => [...one.tweaks.values()]).filter(one => one.monitor));
            samples.setRate(1000);""")
        run_until(lambda: browser.script("return document.querySelector('#graphs').checkVisibility()"))
        time.sleep(2)
        root = browser.driver.service.process.pid
        took = processor_time(root)
        began = time.monotonic()
        time.sleep(seconds)
        took = (processor_time(root) - took) / (time.monotonic() - began)
        return {
            "lines": browser.script("return tweaksPage.graphed.size"), "seconds": seconds, "the browser, of a core": round(took, 3),
        }
    finally:
        world.close()


def run_until(condition):
    from support import wait_until

    return wait_until(condition, patience=60)


def main():
    options, rest, settings = run.prepare(needs_example=False)
    from support import World

    seconds = float(rest[0]) if rest else 60
    world = World("measure")
    figures = {}
    try:
        program = world.start_page_program("many", "10000")
        world.start_ui()
        browser = world.browser(world.address + "&program=page-program")
        browser.connected()
        run_until(lambda: browser.script("return tweaksPage.state.programs.get('page-program')?.isLoaded"))
        took = resident(world.ui.pid)[1]
        slow = World("slow")
        try:
            figures["first load on a slow line"] = slow_load(slow)
        finally:
            slow.close()
        figures["first paint, ms"] = first_paint(world, browser)
        figures["the server for a paint, s of a core"] = round((resident(world.ui.pid)[1] - took) / 7, 3)
        figures["key to result, ms"] = key_to_result(browser)
        figures["drag to cell, ms"] = drag_to_cell(world, browser, program)
        figures["outside change to page, ms"] = outside_change(world, browser, program)
        figures["longest task while scrolling, ms"] = scrolling(browser)
        figures["in the document, elements"] = browser.script("return document.querySelectorAll('*').length")
        figures["1,000 changes a second"] = flood(world, seconds)
        figures["eight monitors"] = monitors(5 * seconds)
        for name, value in figures.items():
            print(f"{name}: {json.dumps(value)}")
        if options.figures:
            with open(options.figures, "w", encoding="utf-8") as file:
                json.dump(figures, file, indent=2)
    finally:
        world.close()
        shutil.rmtree(settings.folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
