"""Tests of network files: GraphML, CSV and blank-separated tables, and malformed files."""

import gzip
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.importers.link_table import LinkColumns
from halfway.world.importers.network_file import read_network

PAIRS = "a,b,pdr,note\n1,2,0.9,x\n2,1,0.8,x\n2,3,0.9,y\n3,2,,y\n4,1,1.0,y\n1,4,0.5,x\n"
TWO_WAYS = "a,b,type,there,back\n1,2,wifi,1,0.9\n2,3,vpn,1,\n3,4,wifi,0.2,0.9\n2,1,vpn,1,1\n"
GRAPHML = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d1" for="node" attr.name="Longitude" attr.type="double"/>
  <key id="d2" for="node" attr.name="Latitude" attr.type="double"/>
  <key id="d3" for="edge" attr.name="x" attr.type="double"/>
  <graph edgedefault="undirected">
    <edge source="a" target="b"><data key="d3">no number, no node</data></edge>
    <node id="a"><data key="d1">8.5</data><data key="d2">47</data></node>
    <node id="b"><data key="d1"> 7.4 </data><data key="d2">46.9</data></node>
    <node id="c"><data key="d1">6.1</data><data key="d2">46.2</data></node>
    <edge source="b" target="a"/>
    <edge source="c" target="c"/>
    <edge source="b" target="c"/>
  </graph>
</graphml>
"""


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def links(network: Network) -> set[tuple[str, str]]:
    """Return the links by the file's ids; check all invariants of a Network."""
    found = set()
    for row in range(network.n):
        assert (np.diff(network.neighbours(row)) > 0).all()
        for other in network.neighbours(row):
            assert row in network.neighbours(int(other))
            found.add(tuple(sorted((network.label(row), network.label(int(other))))))
    assert len(found) == network.links
    return found  # type: ignore[return-value]


def where(network: Network) -> dict[str, tuple[float, float]]:
    assert network.position is not None
    return {network.label(i): (x, y) for i, (x, y) in enumerate(network.position.tolist())}


def test_each_line_is_a_link(tmp_path: Path) -> None:
    network = read_network(written(tmp_path, "net.csv", PAIRS))
    assert links(network) == {("1", "2"), ("2", "3"), ("1", "4")}
    assert (network.name, network.left_out) == ("net", {"repeated links": 3})


def test_both_directions_over_the_threshold(tmp_path: Path) -> None:
    path = written(tmp_path, "net.csv", PAIRS)
    network = read_network(path, LinkColumns(quality="pdr", threshold=0.5))
    assert links(network) == {("1", "2")}
    assert network.n == 4  # each id in the file is a node
    assert network.left_out == {"lines without a quality": 1}
    either = read_network(path, LinkColumns(quality="pdr", threshold=0.85, both_ways=False))
    assert links(either) == {("1", "2"), ("2", "3"), ("1", "4")}


def test_the_threshold_itself_is_not_over_it(tmp_path: Path) -> None:
    path = written(tmp_path, "net.csv", PAIRS)
    assert links(read_network(path, LinkColumns(quality="pdr", threshold=0.49))) == {
        ("1", "2"),
        ("1", "4"),
    }
    assert links(read_network(path, LinkColumns(quality="pdr", threshold=0.5))) == {("1", "2")}


def test_two_qualities_a_line(tmp_path: Path) -> None:
    path = written(tmp_path, "net.csv", TWO_WAYS)
    network = read_network(path, LinkColumns(quality="there,back", threshold=0.5))
    assert links(network) == {("1", "2")}
    assert network.left_out == {"lines without a quality": 1, "repeated links": 1}
    assert links(read_network(path, LinkColumns(quality=("there", "back")))) == {
        ("1", "2"),
        ("3", "4"),
    }
    either = read_network(path, LinkColumns(quality="there,back", threshold=0.5, both_ways=False))
    assert links(either) == {("1", "2"), ("2", "3"), ("3", "4")}


def test_only_some_lines_and_other_columns(tmp_path: Path) -> None:
    network = read_network(
        written(tmp_path, "net.csv", TWO_WAYS), LinkColumns(only={"type": "wifi"})
    )
    assert links(network) == {("1", "2"), ("3", "4")}
    path = written(tmp_path, "other.csv", "cost;to;from\n1;b;a\n2;'c d';b\n")
    assert links(read_network(path, LinkColumns(source="from", target="to"))) == {
        ("a", "b"),
        ("'c d'", "b"),
    }


def test_columns_separated_by_blanks(tmp_path: Path) -> None:
    path = written(tmp_path, "net.txt", "# a comment\n a b 0.5 \r\n\nb\ta\t0.6\n% another\nb c\n")
    assert links(read_network(path)) == {("a", "b"), ("b", "c")}
    network = read_network(path, LinkColumns(quality="3", threshold=0.1))
    assert links(network) == {("a", "b")}
    assert network.left_out == {"lines without a quality": 1}


def test_quotes_byte_order_marks_and_line_ends(tmp_path: Path) -> None:
    text = '\ufeffa,b\r\n"x, the first",y\r\n\r\ny,z\r\n'
    assert links(read_network(written(tmp_path, "net.csv", text))) == {
        ("x, the first", "y"),
        ("y", "z"),
    }


@pytest.mark.parametrize("name", ["net.csv.gz", "NET.CSV.GZ"])
def test_compressed(tmp_path: Path, name: str) -> None:
    network = read_network(written(tmp_path, name, gzip.compress(PAIRS.encode())))
    assert (network.links, network.name.lower()) == (3, "net")


def test_positions_from_another_file(tmp_path: Path) -> None:
    path = written(tmp_path, "net.csv", PAIRS)
    places = written(tmp_path, "at.csv", "y,id,x\n1,1,2\n3,2,4\n5,3,6\n7,4,8\n9,5,10\n")
    network = read_network(path, positions=places)
    assert where(network) == {str(i): (2.0 * i, 2.0 * i - 1) for i in range(1, 6)}
    assert (network.n, network.links) == (5, 3)  # each id with a position is a node
    turned = read_network(path, positions=places, position_columns="id,y,x")
    assert where(turned)["5"] == (9.0, 10.0)
    blanks = written(tmp_path, "at.txt", "1 1 2\n2 3 4\n3 5 6\n4 7 8\n")
    assert where(read_network(path, positions=blanks))["4"] == (7.0, 8.0)


def test_partial_positions_are_none_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "net.csv", "a,b\n1,2\n3,4\n4,5\n")
    places = written(tmp_path, "at.csv", "id,x,y\n1,,\n3,1,2\n4,3,4\n5,5,6\n")
    network = read_network(path, positions=places, partial_positions=True)
    assert network.position is None
    assert network.left_out == {"nodes without a position": 2}
    assert network.remarks == (
        "net.csv: Halfway ignores all positions, because of 2 nodes without a position (1, 2)",
    )
    with pytest.raises(Problem, match=r"at.csv: no position for 2 of 5 nodes \(1, 2\) \(add"):
        read_network(path, positions=places)
    largest = read_network(path, positions=places, largest=True)
    assert where(largest) == {"3": (1, 2), "4": (3, 4), "5": (5, 6)}
    assert largest.left_out == {"nodes outside the largest component": 2}
    assert largest.remarks == ("net.csv: left out 2 nodes outside the largest component (1, 2)",)


def test_longitude_and_latitude_are_projected_to_metres(tmp_path: Path) -> None:
    path = written(tmp_path, "net.csv", "a,b\n1,2\n2,3\n")
    body = "1,48,179.99\n2,48,-179.99\n3,48.02,179.99\n"
    found = []
    for header in ("node,lat,lon", "id,Latitude,Longitude", "first,lat,lng"):
        places = written(tmp_path, "at.csv", f"{header}\n{body}")
        network = read_network(path, positions=places)
        found.append(where(network))
        (remark,) = network.remarks
        assert "projected to metres (equirectangular, around lon " in remark
    assert found[0] == found[1] == found[2]
    # A degree of latitude is 111.2 km, and at 48° a degree of longitude is cos 48° of it.
    one, two, three = (np.array(found[0][name]) for name in "123")
    assert np.linalg.norm(one - two) == pytest.approx(0.02 * 111_195 * 0.669, rel=2e-3)
    assert np.linalg.norm(one - three) == pytest.approx(0.02 * 111_195, rel=1e-4)
    metres = written(tmp_path, "at.csv", "id,lon,lat\n1,4000,1\n2,4100,200\n3,1,2\n")
    with pytest.raises(Problem, match=r"expected degrees, .*name the columns x and y"):
        read_network(path, positions=metres)


def test_a_table_with_one_direction_is_symmetric_and_says_so(tmp_path: Path) -> None:
    body = "a,b,tq\nhub,1,255\nhub,2,200\nhub,3,100\n"
    network = read_network(
        written(tmp_path, "tq.csv", body), LinkColumns(quality="tq", threshold=128)
    )
    assert links(network) == {("1", "hub"), ("2", "hub")}
    assert network.remarks == (
        "tq.csv: each link is in the table once, so tq holds in both directions",
        "tq.csv: kept 2 of 3 links: tq > 128",
    )
    # One line back is enough to make every line a direction.
    back = written(tmp_path, "tq.csv", body + "1,hub,130\n")
    assert links(read_network(back, LinkColumns(quality="tq", threshold=128))) == {("1", "hub")}
    lonely = written(tmp_path, "tq.csv", body + "1,hub,20\n")
    with pytest.raises(Problem, match=r"tq > 128 in both .*the values are 20 to 255.*either-way"):
        read_network(lonely, LinkColumns(quality="tq", threshold=128))
    with pytest.raises(Problem, match=r"tq > 300; the values are 100 to 255 \(choose other limits"):
        read_network(written(tmp_path, "tq.csv", body), LinkColumns(quality="tq", threshold=300))


def test_less_is_better_below_a_limit(tmp_path: Path) -> None:
    path = written(tmp_path, "etx.csv", "a,b,etx\n1,2,1.0\n2,3,1.9\n3,4,0\n4,1,5.5\n1,3,\n")
    assert links(read_network(path, LinkColumns(quality="etx", under=2.0))) == {
        ("1", "2"), ("2", "3"), ("3", "4"),
    }  # fmt: skip
    some = read_network(path, LinkColumns(quality="etx", under=1.9, threshold=0.0))
    assert links(some) == {("1", "2")}
    assert "etx.csv: kept 1 of 5 links: etx > 0 and < 1.9" in some.remarks
    with pytest.raises(Problem, match="under = 2: expected a quality column"):
        read_network(path, LinkColumns(under=2.0))


def test_decimal_commas_and_percentages(tmp_path: Path) -> None:
    body = "a;b;pdr\n1;2;0,91\n2;3;89,5%\n3;4;95 %\n4;5;1,234\n"
    path = written(tmp_path, "net.csv", body)
    assert links(read_network(path, LinkColumns(quality="pdr", threshold=0.9))) == {
        ("1", "2"), ("3", "4"), ("4", "5"),
    }  # fmt: skip
    quoted = 'a,b,pdr\n1,2,"0,91"\n'
    assert read_network(written(tmp_path, "q.csv", quoted), LinkColumns(quality="pdr")).links == 1
    unclear = written(tmp_path, "q.csv", 'a,b,pdr\n1,2,"1,234"\n')
    with pytest.raises(Problem, match=r"pdr = '1,234': expected a number"):
        read_network(unclear, LinkColumns(quality="pdr"))


def test_what_is_left_out_is_counted_with_the_first_names(tmp_path: Path) -> None:
    # A chain of 9, and four pairs apart from it.
    chain = "".join(f"{k},{k + 1}\n" for k in range(1, 9))
    pairs = "".join(f"p{k},q{k}\n" for k in range(4))
    path = written(tmp_path, "net.csv", f"a,b\n{chain}3,3\n3,2\n{pairs}")
    network = read_network(path, largest=True)
    assert network.n == 9
    assert network.remarks == (
        "net.csv: left out 1 loop, 1 repeated link, 8 nodes outside the largest component "
        "(p0, q0, p1, q1, p2, …)",
    )


def test_graphml(tmp_path: Path) -> None:
    network = read_network(written(tmp_path, "net.graphml", GRAPHML))
    assert links(network) == {("a", "b"), ("b", "c")}
    flat = where(network)  # Longitude and Latitude, in metres
    north = (np.array([47, 46.9, 46.2]) - 46.7) * 111_195.08
    assert [flat[name][1] for name in "abc"] == pytest.approx(north, rel=1e-6)
    assert flat["a"][0] - flat["b"][0] == pytest.approx(1.1 * 111_195.08 * 0.68582, rel=1e-4)
    assert network.left_out == {"loops": 1, "repeated links": 1}
    partial = GRAPHML.replace('<data key="d2">46.2</data>', "")
    path = written(tmp_path, "part.graphml", partial)
    with pytest.raises(Problem, match=r"part.graphml: no position for 1 of 3 nodes \(c\) \(add"):
        read_network(path)
    network = read_network(path, partial_positions=True)
    assert (network.position, network.left_out["nodes without a position"]) == (None, 1)


def test_rows_lie_near_each_other_in_memory(tmp_path: Path) -> None:
    shuffled = np.random.default_rng(1).permutation(400)
    text = "a,b\n" + "".join(f"{a},{b}\n" for a, b in pairwise(shuffled))
    path = written(tmp_path, "line.csv", text)
    places = "id,x,y\n" + "".join(f"{a},{k / 7},{0}\n" for k, a in enumerate(shuffled))
    for positions in (None, written(tmp_path, "at.csv", places)):
        network = read_network(path, positions=positions)
        ends = np.repeat(np.arange(network.n), network.degree)
        assert np.abs(ends - network.who).max() == 1


def test_reading_twice_gives_the_same_rows(tmp_path: Path) -> None:
    path = written(tmp_path, "net.graphml", GRAPHML)
    first, second = read_network(path), read_network(path)
    assert (first.who == second.who).all()
    assert (first.labels == second.labels).all()  # type: ignore[union-attr]


BAD_TABLES = {
    "not a number": (PAIRS.replace("0.8", "abc"), ":3:3: column pdr = 'abc': expected a number"),
    "infinite": (PAIRS.replace("0.8", "1e999"), ":3:3: column pdr = '1e999': expected a number"),
    "no id": (PAIRS.replace("2,3,", "2, ,"), ":4:2: the field is empty: expected the id of a node"),
    "cut line": (PAIRS[:-4], ":7: the line has 3 fields: expected 4, as in the header"),
    "long line": (PAIRS + "1,2,3,4,5\n", ":8: the line has 5 fields: expected 4, as in the header"),
    "open quote": (PAIRS + '1,"2\n', ":8: the line is not valid CSV: unexpected end"),
    "no lines": ("a,b,pdr\n", "no links"),
    "no column": (PAIRS.replace("pdr", "lqi"), "no column 'pdr' (columns: a, b, lqi, note)"),
    "one column": ("a\n1\n2\n", "expected two, for the ends of a link"),
    "bars": ("a|b\n1|2\n", "expected two, for the ends of a link (separate the fields by commas"),
    "nothing": ("", "the file is empty"),
    "blank": (" \n\n", "the file is empty"),
    "only a byte order mark": ("\ufeff", "the file is empty"),
    "nothing good": (
        PAIRS.replace("0.8", "0.01"),
        "no link has pdr > 0.7 in both directions; the values are 0.01 to 1",
    ),
    "binary": (b"a,b,pdr\n1,2,\x80\xff", ":2:5: expected a text file"),
    "zeros": (b"a,b,pdr\n\x00\x00", ":2:1: expected a text file"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables_are_named(tmp_path: Path, case: str) -> None:
    text, said = BAD_TABLES[case]
    path = written(tmp_path, "links.csv", text)
    with pytest.raises(Problem) as caught:
        read_network(path, LinkColumns(quality="pdr", threshold=0.7))
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)


BAD_BLANKS = {
    "one id": ("a b 1\nc\n", ":2: the line has 1 column: expected 2 to 3"),
    "too much": ("a b 1\nc d 1 2\n", ":2: the line has 4 columns"),
    "not a number": ("a b 1\nc d x\n", ":2:3: column 3 = 'x': expected a number"),
    "comments": ("# a b 1\n", "only comments"),
    "one column": ("a\nb\n", ":1: the line has 1 column: expected 2 (separate the columns"),
    "commas": ("a,b,1\nb,c,1\n", ":1: the line has 1 column: expected 2 (for fields between"),
    "tuples": ("(0, 1) (0, 2)\n", ":1:1: column 1 = '(0,': expected a name without blanks (write"),
    "quotes": ('a b\nb "c d"\n', ":2: the line has 3 columns: expected 2 (separate the columns"),
    "half a quote": ('a "b c\n', ":1:2: column 2 = '\"b': expected a name without blanks"),
}


@pytest.mark.parametrize("case", BAD_BLANKS)
def test_bad_blanks_are_named(tmp_path: Path, case: str) -> None:
    text, said = BAD_BLANKS[case]
    path = written(tmp_path, "links.txt", text)
    with pytest.raises(Problem) as caught:
        read_network(path, LinkColumns(quality="3"))
    assert str(caught.value).startswith(f"{path}:")
    assert said in str(caught.value)


BAD_GRAPHML = {
    "unknown node": (
        GRAPHML.replace('target="c"', 'target="d"'),
        ":12:5: an edge leads to the unknown",
    ),
    "no id": (GRAPHML.replace('<node id="b">', "<node>"), ":9:5: <node> without id"),
    "no target": (GRAPHML.replace(' target="a"', ""), ":11:5: <edge> without target"),
    "twice": (GRAPHML.replace('id="b"', 'id="a"'), ":9:5: node 'a' occurs twice"),
    "no number": (GRAPHML.replace("46.9", "north"), "latitude = 'north' of node"),
    "cut": (GRAPHML[: GRAPHML.index("</graph>")], ":14:3: the file is truncated inside <graph>"),
    "cut in a tag": (
        GRAPHML[: GRAPHML.index('"/>\n  </gr')],
        ":13:5: the file is truncated inside <graph>",
    ),
    "crossed": (
        GRAPHML.replace("</graph>", "</node>"),
        ":14:5: invalid XML: mismatched",
    ),
    "other xml": ("<svg></svg>", ":1:1: root element <svg>: expected <graphml>"),
    "no graph": ("<graphml></graphml>", "no <graph>"),
    "no links": ("<graphml><graph><node id='a'/></graph></graphml>", "no links"),
    "two graphs": ("<graphml><graph/><graph/></graphml>", ":1:18: a second <graph>"),
    "no xml": (PAIRS, ":1:1: invalid XML: syntax error"),
    "binary": (b"\x00\x01\x02\x03", "invalid XML: invalid token"),
    "no encoding": ("<?xml version='1.0' encoding='nope'?><graphml/>", "XML"),
    "entities": (
        '<!DOCTYPE g [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><graphml>&b;</graphml>',
        ": the file has a document type",
    ),
    "nothing": ("", "the file is empty"),
}


@pytest.mark.parametrize("case", BAD_GRAPHML)
def test_bad_graphml_is_named(tmp_path: Path, case: str) -> None:
    text, said = BAD_GRAPHML[case]
    path = written(tmp_path, "net.graphml", text)
    with pytest.raises(Problem) as caught:
        read_network(path)
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)


BAD_PLACES = {
    "not a number": ("id,x,y\n1,2,east\n", ":2:3: column y = 'east': expected a number"),
    "twice": ("id,x,y\n1,2,3\n1,2,3\n", ":3:1: node 1 has two positions"),
    "no columns": ("id,north,east\n1,2,3\n", "no columns x, y or lon, lat"),
    "other ids": ("id,x,y\nm1,2,3\n", "positions are for m1…, and the links join 1, 2, 3…"),
}


@pytest.mark.parametrize("case", BAD_PLACES)
def test_bad_positions_are_named(tmp_path: Path, case: str) -> None:
    text, said = BAD_PLACES[case]
    path = written(tmp_path, "at.csv", text)
    with pytest.raises(Problem) as caught:
        read_network(written(tmp_path, "net.csv", PAIRS), positions=path)
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    whole = gzip.compress(PAIRS.encode())
    (tmp_path / "folder.csv").mkdir()
    cases = {
        tmp_path / "missing.csv": "no such file",
        tmp_path / "folder.csv": "this is a directory",
        tmp_path: "this is a directory",
        tmp_path / "net.pdf": "unknown suffix '.pdf' (name a file that ends in .graphml",
        tmp_path / "net": "the name of the file has no suffix",
        written(tmp_path, "cut.csv.gz", whole[:-12]): "truncated",
        written(tmp_path, "plain.csv.gz", PAIRS): "expected a valid gzip file",
        written(tmp_path, "torn.csv.gz", whole[:20] + b"????" + whole[24:]): "gzip file",
        written(tmp_path, "empty.csv.gz", b""): "the file is empty",
        written(tmp_path, "n.csv", PAIRS) / "x.csv": "cannot be read",
    }
    for path, said in cases.items():
        with pytest.raises(Problem) as caught:
            read_network(path)
        assert str(path) in str(caught.value)
        assert said in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (LinkColumns(threshold=0.5), "expected a quality column"),
        (LinkColumns(quality="pdr", threshold=float("nan")), "threshold = nan"),
        (LinkColumns(quality="a,b,pdr"), "3 quality columns"),
        (LinkColumns(source="x"), "no column 'x' (columns: a, b, pdr, note)"),
        (LinkColumns(source="b"), "source = target = 'b'"),
        (LinkColumns(only={"note": "z"}), "no line has note = z"),
    ],
)
def test_columns_that_do_not_fit_are_named(tmp_path: Path, columns: LinkColumns, said: str) -> None:
    with pytest.raises(Problem) as caught:
        read_network(written(tmp_path, "net.csv", PAIRS), columns)
    assert said in str(caught.value)


def test_graphml_has_no_columns(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="no columns"):
        read_network(written(tmp_path, "net.graphml", GRAPHML), LinkColumns(source="a"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([("net.csv", PAIRS), ("net.txt", PAIRS.replace(",", " ")), ("n.xml", GRAPHML)]),
    st.integers(0, 1000),
    st.binary(max_size=4),
    st.booleans(),
)
def test_a_damaged_file_is_read_or_named(
    tmp_path: Path, file: tuple[str, str], at: int, bytes_there: bytes, cut: bool
) -> None:
    name, text = file
    data = text.encode()
    at %= len(data)
    damaged = data[:at] + bytes_there + (b"" if cut else data[at + len(bytes_there) :])
    path = written(tmp_path, name, damaged)
    try:
        network = read_network(path)
    except Problem as problem:
        assert str(problem).startswith(str(path))  # noqa: PT017 - either outcome is right
    else:
        links(network)


def test_a_csv_without_a_header_is_not_read_as_if_it_had_one(tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    file.write_text("1,2\n2,3\n3,4\n")
    with pytest.raises(Problem, match="the first line has only numbers"):
        read_network(file)
