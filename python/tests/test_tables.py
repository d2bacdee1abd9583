"""Other libraries read the tables, and none of them is needed."""

from __future__ import annotations

import pytest
from conftest import FOUR, FOUR_PS

import weir

IDS = ["a", "b", "c", "d"]


def test_python_alone() -> None:
    table = weir.run(FOUR).transfers
    assert table["id"] == IDS and max(table["end_ps"]) == FOUR_PS
    assert table[-1]["id"] == "d" and table[0]["region"] is None
    assert len(table) == 4 and set(table.to_dict()) == set(table.columns)
    with pytest.raises(KeyError, match="no column `ends`"):
        table["ends"]
    with pytest.raises(IndexError, match="no row 4"):
        table[4]
    with pytest.raises(IndexError):
        table[-5]


def test_a_table_is_made_once() -> None:
    result = weir.run(FOUR)
    assert result.transfers is result.transfers
    assert result.links is result.links


def test_pyarrow() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(weir.run(FOUR).transfers)
    assert table["id"].to_pylist() == IDS and table["end_ps"].type == pyarrow.int64()
    table.validate(full=True)


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas", minversion="3")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame.from_arrow(weir.run(FOUR).links)
    assert frame["bytes"].max() == 600_000_000


def test_polars() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(weir.run(FOUR, phases=True).phases)
    assert frame["rate_Bps"].sum() > 0 and frame["end_ps"].max() == FOUR_PS


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    transfers = weir.run(FOUR).transfers
    assert transfers is not None
    (row,) = duckdb.sql('select max("end_ps") from transfers').fetchall()
    assert row == (FOUR_PS,)


def test_a_stream_that_nobody_reads_is_given_back() -> None:
    table = weir.run(FOUR).transfers
    for _ in range(1000):
        table.__arrow_c_stream__()
    pyarrow = pytest.importorskip("pyarrow")
    kept = pyarrow.table(table)
    del table
    assert kept["id"].to_pylist() == IDS


def test_a_run_without_phases_says_how_to_get_them() -> None:
    with pytest.raises(ValueError, match="phases=True"):
        weir.run(FOUR).phases


def test_pictures() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    result = weir.run(FOUR)
    assert len(result.plot_timeline().patches) == 4
    assert len(result.plot_links(most=3).patches) == 3


def test_notebooks_get_escaped_html() -> None:
    scenario = weir.Scenario(
        topology=weir.Topology(
            [weir.root_complex("rc", weir.cpu("c", link="l"), weir.gpu("g", link="l"))],
            [weir.link_type("l", bandwidth="1GB/s")],
        ),
        workload=[weir.transfer("g", "c", "1GB")],
        name="<script>",
    )
    shown = weir.run(scenario)._repr_html_()
    assert "<script>" not in shown and "&lt;script&gt;" in shown and "<pre>" in shown
