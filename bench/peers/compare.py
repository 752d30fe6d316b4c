#!/usr/bin/python3
"""Runs the same AllReduce by REACT and its peers in turns, and prints medians and ratios.

Ranks are processes of this machine, in a network namespace whose loopback uses one congestion control for all (reno); or,
with --star, they are the hosts of an emulated cluster, of whose samples the second half counts, so that a tuner has
settled. The allocator keeps what it has, so that no library pays for fresh pages. A round runs every contender once; a ratio
is taken within a round, and the median over the rounds is printed.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
REACT = ROOT / "build" / "peers" / "react"
AGENT = ROOT / "bench" / "peers" / "enter_host"
JOBS = ROOT / "build" / "peers" / "bench" / "peers"
ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=4294967296"}
OPEN_MPI = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1"]
OPEN_MPI_ALGORITHMS = {"recursive-doubling": 3, "ring": 4, "segmented-ring": 5, "rabenseifner": 6}


def contenders(options):
    """Name -> (kind, algorithm). Those whose name starts with "REACT" are ours, "ceiling" is no library."""
    transport = "tcp" if options.star else options.transport
    found = {"REACT": ("react", transport), "REACT, tuner off": ("react", f"{transport}:off")}
    if transport == "tcp":
        if not options.star:
            found["ceiling"] = ("ceiling", "-")
        for algorithm in ("ring", "ring-chunked", "halving-doubling", "bcube"):
            found[f"Gloo {algorithm}"] = ("gloo", algorithm)
    elif options.ranks == 2:  # it spins: with more ranks than processors its times mean nothing
        found["MPICH"] = ("mpich", "-")
    found["Open MPI"] = ("openmpi", "-")
    for algorithm in OPEN_MPI_ALGORITHMS:
        found[f"Open MPI {algorithm}"] = ("openmpi", algorithm)
    return found


def open_mpi(transport, algorithm):
    """mpirun without its program."""
    flags = ["--mca", "btl", "vader,self" if transport == "shm" else "tcp,self"]
    if algorithm != "-":
        flags += ["--mca", "coll_tuned_use_dynamic_rules", "1",
                  "--mca", "coll_tuned_allreduce_algorithm", str(OPEN_MPI_ALGORITHMS[algorithm])]
    return [*OPEN_MPI, *flags]


class ThisMachine:
    """Ranks as processes over loopback or shared memory."""

    def __init__(self, options):
        self.options = options

    def commands(self, kind, algorithm, meeting, number):
        ranks, tail = str(self.options.ranks), [self.options.size_list, str(self.options.seconds)]
        if kind == "openmpi":
            network = ["--mca", "btl_tcp_if_include", "lo"] if self.options.transport == "tcp" else []
            return [[*open_mpi(self.options.transport, algorithm), *network, "-n", ranks,
                     str(JOBS / "openmpi_job"), "0", "0", "-", "-", *tail]]
        if kind == "mpich":
            return [["mpiexec.mpich", "-n", ranks, str(JOBS / "mpich_job"), "0", "0", "-", "-", *tail]]
        place = str(meeting) if kind == "gloo" else f"127.0.0.1:{20000 + number * 16 % 10000}"
        return [[str(JOBS / f"{kind}_job"), str(rank), ranks, place, algorithm, *tail]
                for rank in range(self.options.ranks)]

    @staticmethod
    def samples(text):
        return text


class Star:
    """Ranks on the hosts of `react lab exec`, with external flows into rank 3 (rank 1 where there are fewer than 4)."""

    def __init__(self, options):
        self.options = options

    def commands(self, kind, algorithm, meeting, number):
        del number
        tail = [self.options.size_list, str(self.options.seconds)]
        lab = [str(REACT), "lab", "exec", "--json", "--hosts", str(self.options.ranks), "--rate", self.options.rate]
        if self.options.external:
            lab += ["--external", str(self.options.external), "--into", "3" if self.options.ranks > 3 else "1"]
        if kind == "openmpi":
            job = " ".join([*open_mpi("tcp", algorithm), "--mca", "btl_tcp_if_include", "data0",
                            "--mca", "oob_tcp_if_include", "ctl0", "--mca", "plm_rsh_agent", str(AGENT),
                            "-host", "$REACT_LAB_ADDRESSES", str(JOBS / "openmpi_job"), "0", "0", "-", "-", *tail])
            return [[*lab, "--first", "--", "sh", "-c", f"exec {job}"]]
        place = str(meeting) if kind == "gloo" else "$REACT_LEADER"
        job = " ".join([str(JOBS / f"{kind}_job"), "$REACT_RANK", "$REACT_RANKS", place, algorithm, *tail])
        return [[*lab, "--", "sh", "-c", f"export REACT_PEERS_ADDRESS=$REACT_LAB_ADDRESS; exec {job}"]]

    @staticmethod
    def samples(text):
        return json.loads(text)["hosts"][0]["stdout"]


def run_job(place, kind, algorithm, number, folder):
    """One job. {size: median time in us}."""
    meeting = folder / f"meeting{number}"
    meeting.mkdir()
    options = place.options
    commands = place.commands(kind, algorithm, meeting, number)
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **ENVIRONMENT}) for command in commands]
    try:
        said = [process.communicate(timeout=60 + 20 * len(options.sizes) * options.seconds) for process in running]
    finally:
        for process in running:
            process.kill()
    for command, process, (_, err) in zip(commands, running, said):
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}: {err.strip()[-400:]}")
    times = {}
    for line in place.samples(said[0][0]).splitlines():
        size, time_us = line.split()
        times.setdefault(int(size), []).append(float(time_us))
    return {size: statistics.median(values[len(values) // 2 if options.star else 0:]) for size, values in times.items()}


def measure(options):
    """{contender: {size: [median time in us of each round]}}"""
    place = Star(options) if options.star else ThisMachine(options)
    field = {name: contender for name, contender in contenders(options).items()
             if not options.only or any(name.startswith(wanted) for wanted in options.only)}
    times = {name: {size: [] for size in options.sizes} for name in field}
    with tempfile.TemporaryDirectory() as folder:
        number = os.getpid() % 1000
        for turn in range(options.rounds):
            names = list(field)
            for name in names if turn % 2 == 0 else reversed(names):
                number += 1
                print(f"round {turn + 1} of {options.rounds}: {name}", file=sys.stderr)
                found = run_job(place, *field[name], number, pathlib.Path(folder))
                for size, time_us in found.items():
                    times[name][size].append(time_us)
    return times


def is_peer(name):
    return not name.startswith("REACT") and name != "ceiling"


def ratios(times, size, name, others):
    """Per round: the best of the others' times over this one's. Above 1: this one is faster."""
    return [min(times[other][size][turn] for other in others) / own for turn, own in enumerate(times[name][size])]


def summary(times, options):
    rows = []
    for size in options.sizes:
        # The best peer is one algorithm: that with the least median, not the luckiest of each round.
        peers = sorted((name for name in times if is_peer(name)), key=lambda name: statistics.median(times[name][size]))
        for name in times:
            median_us = statistics.median(times[name][size])
            row = {"size_bytes": size, "name": name, "median_us": median_us,
                   "algbw_gbytes_per_s": size / median_us / 1e3, "rounds": len(times[name][size])}
            if peers:
                row["best_peer"] = peers[0]
                row["ratio_to_best_peer"] = statistics.median(ratios(times, size, name, peers[:1]))
            if "ceiling" in times:
                row["share_of_ceiling"] = statistics.median(ratios(times, size, name, ["ceiling"]))
            if "REACT, tuner off" in times:
                row["ratio_to_tuner_off"] = statistics.median(ratios(times, size, name, ["REACT, tuner off"]))
            rows.append(row)
    return rows


def describe_place(options):
    if not options.star:
        return options.transport
    return f"emulated star of {options.rate} links, {options.external} external flows into one rank"


def print_table(rows, options):
    print(f"AllReduce float32 sum, {options.ranks} ranks, {describe_place(options)}, {options.rounds} rounds of {options.seconds:g} s; "
          "ratios: above 1 is faster than the best peer")
    for size in options.sizes:
        here = [row for row in rows if row["size_bytes"] == size]
        print(f"\n{size} bytes" + (f"; best peer: {here[0]['best_peer']}" if "best_peer" in here[0] else ""))
        print(f"  {'':28}{'median us':>12}{'GB/s':>9}{'ratio':>8}{'of ceiling':>12}")
        for row in sorted(here, key=lambda row: row["median_us"]):
            ratio = f"{row['ratio_to_best_peer']:8.3f}" if "ratio_to_best_peer" in row else " " * 8
            ceiling = f"{row['share_of_ceiling']:12.3f}" if "share_of_ceiling" in row else ""
            print(f"  {row['name']:28}{row['median_us']:12.1f}{row['algbw_gbytes_per_s']:9.3f}{ratio}{ceiling}")


def enter_namespace():
    """Runs this program again in a network namespace of its own, loopback up, reno."""
    if os.environ.get("REACT_PEERS_INSIDE"):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control").write_text("reno")
        return
    flags = ["--net"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--net"]
    os.environ["REACT_PEERS_INSIDE"] = "1"
    os.execvp("unshare", ["unshare", *flags, sys.executable, *sys.argv])


def parse_size(text):
    power = "KMG".find(text[-1].upper()) + 1
    size = int(text[:-1] if power else text) * 1024**power
    if size <= 0 or size % 4 != 0 or size > 1 << 30:
        raise ValueError
    return size


def main():
    parser = argparse.ArgumentParser(
        prog="x bench peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Example: ./x bench peers --transport tcp --sizes 8,1M,20M --rounds 7")
    parser.add_argument("--transport", choices=["tcp", "shm"], default="tcp", help="over loopback, or shared memory")
    parser.add_argument("--ranks", type=int, default=4, choices=range(2, 17), metavar="N", help="processes, 2 to 16 [4]")
    parser.add_argument("--sizes", default="8,64K,1M,20M,100M", help="bytes, K, M, G: powers of 1024 [%(default)s]")
    parser.add_argument("--star", action="store_true", help="on the emulated cluster of `react lab`, over TCP")
    parser.add_argument("--rate", default="500M", help="--star: of every link, bit/s [500M]")
    parser.add_argument("--external", type=int, default=0, help="--star: external flows into one rank [0]")
    parser.add_argument("--rounds", type=int, default=5, help="[5]")
    parser.add_argument("--seconds", type=float, default=0.5, help="of samples per size and job [0.5]")
    parser.add_argument("--only", action="append", help="only contenders whose name starts so; repeatable")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    options = parser.parse_args()
    try:
        options.sizes = [parse_size(text) for text in options.sizes.split(",")]
    except (ValueError, IndexError):
        parser.error(f"--sizes {options.sizes}: sizes in bytes, multiples of 4 up to 1G, as in 8,64K,1M")
    if options.rounds < 1 or not options.seconds > 0:
        parser.error("--rounds and --seconds must be above 0")
    options.size_list = ",".join(map(str, options.sizes))
    if not options.star:  # the cluster has namespaces of its own
        enter_namespace()
    try:
        rows = summary(measure(options), options)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        print(f"bench peers: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps({"schema": "react.peers/1", "ranks": options.ranks, "place": describe_place(options),
                          "congestion_control": "reno", "rounds": options.rounds, "rows": rows}, indent=2))
    else:
        print_table(rows, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
