"""Scenario files: a valid file becomes a simulation, an invalid one an error of one line."""

import random
from pathlib import Path

import pytest

from halfway.problem import Problem
from halfway.scenario.build import network_of, simulation_of
from halfway.scenario.reading import read_scenario
from halfway.scenario.schema import FromFile
from halfway.sim.radio.declarations import IdealRadio

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "scenarios").glob("*.toml"))
SMALL = """
seconds = 20
[network]
kind = "unit-disk"
n = 40
degree = 9.0
[radio]
kind = "ideal"
[workload]
subscribers_each = 6
events = 8
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "scenario.toml"
    file.write_text(text, "utf-8")
    return file


def test_a_scenario_becomes_a_run(tmp_path: Path) -> None:
    read = read_scenario(written(tmp_path, SMALL), {"workload.events": "5", "system": "flooding"})
    outcome = simulation_of(read).run()
    assert (outcome.system, outcome.nodes, outcome.published) == ("flooding", 40, 5)
    assert outcome.delivery_ratio == 1.0
    assert simulation_of(read).run() == outcome


def test_systems_share_network_and_workload(tmp_path: Path) -> None:
    read = read_scenario(written(tmp_path, SMALL))
    one, other = simulation_of(read, system="flooding"), simulation_of(read, system="gossip")
    assert (one.environment.start.who == other.environment.start.who).all()
    assert [list(a) for a in one.demand.next_publications(1e9, 99)[:4]] == [
        list(a) for a in other.demand.next_publications(1e9, 99)[:4]
    ]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_scenarios_that_ship_can_be_built(path: Path) -> None:
    read = read_scenario(path)
    assert read.title
    assert simulation_of(read).environment.n > 10


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("workload.events=-4", r"workload.events = -4: expected a whole number of 0 or more"),
        ("network.n=many", r"network.n = 'many'"),
        ("network.kind=ring", r"network.kind = 'ring'.*file, .*unit-disk"),
        ("radio.kind=smoke", r"radio.kind = 'smoke'.*contention, .*ideal"),
        ("radio.power=3", r"radio: .*unknown field `power`.*delay_s"),
        ("seconds=0", r"seconds = 0: expected a number above 0"),
        ("workload.arrivals=late", r"workload.arrivals = 'late': expected one of regular, poisson"),
        ("title.deep=3", r"title.deep"),
        (
            'workload={kind="groups", members=[{role="king"}]}',
            "'king': expected one of publish, sub",
        ),
        ('workload.subscribers=[{who="a"}]', r"\[0\]: unknown field `who`; allowed here: node, "),
        ("workload.width=true", "True: expected a whole number, not true or false"),
        ("faults=[3]", r"faults\[0\] = 3: expected a table, not a whole number"),
    ],
)
def test_a_wrong_field_is_named_with_its_value_and_what_is_allowed(
    tmp_path: Path, change: str, named: str
) -> None:
    field, _, value = change.partition("=")
    with pytest.raises(Problem, match=named):
        read_scenario(written(tmp_path, 'title = "x"\n' + SMALL), {field: value})


def test_a_file_of_links_in_place_of_a_scenario_names_the_command_that_makes_one(
    tmp_path: Path,
) -> None:
    links = tmp_path / "links.csv"
    links.write_text("a,b\nb,c\n")
    with pytest.raises(Problem, match=f"halfway init {links}"):
        read_scenario(links)


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="no such file"):
        read_scenario(tmp_path / "none.toml")
    with pytest.raises(Problem, match="invalid TOML"):
        read_scenario(written(tmp_path, "n = = 3"))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Problem, match="UTF-8"):
        read_scenario(tmp_path / "binary.toml")


def test_either_a_radius_or_a_degree(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="given: expected exactly one"):
        network_of(read_scenario(written(tmp_path, SMALL), {"network.radius": "0.2"}))


@pytest.mark.parametrize("quality", ['"there,back"', '["there", "back"]'])
@pytest.mark.parametrize("columns", ['"there, back"', '["there", "back"]'])
def test_names_of_columns_are_a_list_or_a_text(quality: str, columns: str, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("a,b,there,back\nx,y,0.5,0.75\ny,z,1.0,0.25\n")
    text = f"""
        [network]
        kind = "file"
        path = "links.csv"
        quality = {quality}
        [radio]
        kind = "ideal"
        ratios = "links.csv"
        ratio_columns = {columns}
    """
    scenario = read_scenario(written(tmp_path, text))
    assert isinstance(scenario.network, FromFile)
    assert scenario.network.quality == "there,back"
    assert isinstance(scenario.radio, IdealRadio)
    assert scenario.radio.ratio_columns == ("there", "back")


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("a,b,there,back\nx,y,0.5,0.75\ny,z,1.0,0.25\n")
    text = """
        [network]
        kind = "file"
        path = "links.csv"
        [radio]
        kind = "ideal"
        ratios = "links.csv"
        ratio_columns = ["there", "back"]
    """
    run = simulation_of(read_scenario(written(tmp_path, text)))
    network, success = run.environment.start, run.radio.success
    ratio = {
        (network.label(a), network.label(int(b))): float(success[int(network.start[a]) + k])
        for a in range(3)
        for k, b in enumerate(network.neighbours(a))
    }
    assert ratio == {("x", "y"): 0.5, ("y", "x"): 0.75, ("y", "z"): 1.0, ("z", "y"): 0.25}


def test_mutated_files_never_crash(tmp_path: Path) -> None:
    """Lines dropped or doubled, values replaced: a scenario or a Problem, nothing else."""
    text = EXAMPLES[0].read_text("utf-8") + EXAMPLES[-1].read_text("utf-8").split("\n", 6)[-1]
    values = ["-1", "1e99", '""', "true", "[]", "{}", "nan", "inf", "0", '"x"', "[1, 2]", "1_0"]
    generator, good = random.Random(5), 0
    errors: list[str] = []
    for _ in range(200):
        lines = text.splitlines()
        for _ in range(generator.randint(1, 3)):
            k = generator.randrange(len(lines))
            match generator.randrange(4):
                case 0:
                    del lines[k]
                case 1:
                    lines.insert(k, generator.choice(lines))
                case 2:
                    name, equals, _value = lines[k].partition("=")
                    lines[k] = name + equals + generator.choice(values) if equals else lines[k]
                case _:
                    lines[k] = lines[k][: generator.randrange(len(lines[k]) + 1)]
        try:
            read_scenario(written(tmp_path, "\n".join(lines)))
            good += 1
        except Problem as problem:
            errors.append(str(problem))
    assert all(str(tmp_path) in line for line in errors)
    assert good + len(errors) == 200
    assert len(errors) > 50
