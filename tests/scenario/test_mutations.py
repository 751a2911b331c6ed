"""Five hundred mutated scenario files: each is a scenario, or an error of one line."""

import random
import re
from pathlib import Path

from halfway.problem import Problem
from halfway.scenario.build import prepared
from halfway.scenario.swept_points import read_sweep

FOLDER = Path(__file__).parents[2] / "examples" / "scenarios"
VALUES = ["-1", "1e99", '""', "true", "[]", "{}", "nan", "inf", "0", '"x"', "[1, 2]", "1_0", "3"]
SWEEP = '\n[sweep]\n"workload.events" = [3, 5]\n"seconds" = [9.5]\n'
# A table, a field with its index, a line of the file, or a top-level field.
NAMED = re.compile(
    r"(network|radio|workload|faults?|options|power|sweep|title|system|seconds|seed|discovery_delay_s|window"
    r"|stretch)\b|\(at (line \d+|end of document)|unknown field|is missing"
    r"|nested too deeply|nested levels|\.csv"
)
_MOST_NODES = 1000  # drawing a million nodes takes long


def mutated(lines: list[str], generator: random.Random) -> list[str]:
    """The lines with some dropped, doubled, cut, or with other values."""
    for _ in range(generator.randint(1, 3)):
        k = generator.randrange(len(lines))
        match generator.randrange(5):
            case 0:
                del lines[k]
            case 1:
                lines.insert(k, generator.choice(lines))
            case 2 | 3:
                name, equals, _value = lines[k].partition("=")
                lines[k] = name + equals + generator.choice(VALUES) if equals else lines[k]
            case _:
                lines[k] = lines[k][: generator.randrange(len(lines[k]) + 1)]
    return lines


def test_five_hundred_mutated_files_are_scenarios_or_errors_of_one_line(tmp_path: Path) -> None:
    for table in FOLDER.glob("*.csv"):
        (tmp_path / table.name).write_bytes(table.read_bytes())
    texts = [file.read_text("utf-8") + SWEEP for file in sorted(FOLDER.glob("*.toml"))]
    generator, good, errors = random.Random(7), 0, list[str]()
    for k in range(500):
        file = tmp_path / "scenario.toml"
        file.write_text("\n".join(mutated(texts[k % len(texts)].splitlines(), generator)), "utf-8")
        try:
            _, points = read_sweep(file)
            for point in points:
                if getattr(point.scenario.network, "n", 0) <= _MOST_NODES:
                    prepared(point.scenario)
            good += 1
        except Problem as problem:
            errors.append(str(problem))
    unnamed = [line for line in errors if not NAMED.search(line) or "\n" in line]
    assert unnamed == []
    assert good + len(errors) == 500
    assert len(errors) > 150
    assert good > 50
