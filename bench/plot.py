"""The plots of bench/plot: one gnuplot script each, with its data inline. docs/performance.md explains the plots."""
import json
import subprocess
import sys


def series(results, scenario, store, x, y, **wanted):
    """Returns the points of a plot by subject."""
    lines = {}
    for each in results:
        parameters, figures = each["parameters"], each["figures"]
        if each["scenario"] != scenario or (store and each["store"] != store) or x not in parameters or y not in figures:
            continue
        if any(parameters.get(name) != value for name, value in wanted.items()):
            continue
        name = each["subject"] if store else each["store"]
        lines.setdefault(name, []).append((parameters[x], figures[y]))
    return lines


def draw(path, title, x, y, lines, settings):
    if not lines:
        print(f"{path}: no data for this plot", file=sys.stderr)
        return
    script = ["set terminal svg size 800,480 font 'sans,12' background rgb 'white'", f"set output '{path}'",
              f"set title '{title}'", f"set xlabel '{x}'", f"set ylabel '{y}'", "set key outside right", "set grid",
              *settings]
    data = []
    for number, (name, points) in enumerate(lines.items()):
        data.append(f"$data{number} << END")
        data += [f"{a} {b}" for a, b in sorted(points)]
        data.append("END")
    plots = ", ".join(f"$data{number} using 1:2 with linespoints linewidth {3 if name == 'baton' else 1} title '{name}'"
                      for number, name in enumerate(lines))
    script += [*data, f"plot {plots}"]
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)
    print(path)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)["results"]
    folder = sys.argv[2]
    logarithmic = ["set logscale x 2", "set logscale y 10"]
    draw(f"{folder}/handoff.svg", "Hand-off on one Redis server, median", "processes on one name",
         "median, microseconds", series(results, "handoff", "redis", "processes", "p50_us", hold_us=0), logarithmic)
    draw(f"{folder}/handoff-p99.svg", "Hand-off on one Redis server, 99th percentile", "processes on one name",
         "p99, microseconds", series(results, "handoff", "redis", "processes", "p99_us", hold_us=0), logarithmic)
    draw(f"{folder}/throughput.svg", "Cycles of one client", "callers, each with its own name", "cycles per second",
         series(results, "throughput", None, "callers", "cycles_per_s"), ["set logscale x 2", "set yrange [0:*]"])
    draw(f"{folder}/fairness.svg", "Fairness on one Redis server (1: equal shares)", "processes on one name",
         "Jain index", series(results, "handoff", "redis", "processes", "fairness", hold_us=0),
         ["set logscale x 2", "set yrange [0:1.05]"])


main()
