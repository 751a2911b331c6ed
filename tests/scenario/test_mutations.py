"""Five hundred spoilt scenario files: each is a scenario or one line that names what is wrong."""

import random
import re
from pathlib import Path

from halfway.problem import Problem
from halfway.scenario.build import staged
from halfway.scenario.sweep import read_sweep

FOLDER = Path(__file__).parents[2] / "examples" / "scenarios"
VALUES = ["-1", "1e99", '""', "true", "[]", "{}", "nan", "inf", "0", '"x"', "[1, 2]", "1_0", "3"]
SWEEP = '\n[sweep]\n"workload.events" = [3, 5]\n"seconds" = [9.5]\n'
# A table, a field of one with its place, the file's own line, or what stands at its top.
NAMED = re.compile(
    r"(network|radio|workload|faults?|options|power|sweep|title|system|seconds|seed|hello_s|window"
    r"|stretch)\b|\(at (line \d+|end of document)|unknown field|missing required field"
    r"|nested too deeply|\.csv"
)
_MOST_NODES = 1000  # drawing a million nodes is no refusal, and takes its time


def spoilt(lines: list[str], dice: random.Random) -> list[str]:
    """Lines dropped, doubled, cut, moved, or with other values."""
    for _ in range(dice.randint(1, 3)):
        k = dice.randrange(len(lines))
        match dice.randrange(5):
            case 0:
                del lines[k]
            case 1:
                lines.insert(k, dice.choice(lines))
            case 2 | 3:
                name, equals, _value = lines[k].partition("=")
                lines[k] = name + equals + dice.choice(VALUES) if equals else lines[k]
            case _:
                lines[k] = lines[k][: dice.randrange(len(lines[k]) + 1)]
    return lines


def test_five_hundred_spoilt_files_are_told_in_a_line(tmp_path: Path) -> None:
    for table in FOLDER.glob("*.csv"):
        (tmp_path / table.name).write_bytes(table.read_bytes())
    texts = [file.read_text("utf-8") + SWEEP for file in sorted(FOLDER.glob("*.toml"))]
    dice, good, told = random.Random(7), 0, list[str]()
    for k in range(500):
        file = tmp_path / "scenario.toml"
        file.write_text("\n".join(spoilt(texts[k % len(texts)].splitlines(), dice)), "utf-8")
        try:
            _, points = read_sweep(file)
            for point in points:
                if getattr(point.scenario.network, "n", 0) <= _MOST_NODES:
                    staged(point.scenario)
            good += 1
        except Problem as problem:
            told.append(str(problem))
    unnamed = [line for line in told if not NAMED.search(line) or "\n" in line]
    assert unnamed == []
    assert good + len(told) == 500
    assert len(told) > 150
    assert good > 50
