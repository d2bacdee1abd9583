"""Other libraries read the tables, and none of them is needed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from conftest import FOUR, FOUR_PS, SCENARIOS

import weir

IDS = ["a", "b", "c", "d"]


def test_python_alone() -> None:
    table = weir.run(FOUR).transfers
    assert table["id"] == IDS and max(table["end_ps"]) == FOUR_PS
    assert table[-1]["id"] == "d" and table[0]["region"] is None
    assert len(table) == 4 and set(table.to_dict()) == set(table.columns)
    assert isinstance(table, Iterable) and list(table) == [table[at] for at in range(4)]
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


def test_names_that_many_rows_share_are_categories() -> None:
    """Also where several threads have made the table."""
    topology = weir.Topology(
        [weir.switch("s", *(weir.gpu(f"g{i}", link="l") for i in range(6)))], [weir.link_type("l", bandwidth="16GB/s")]
    )
    rules = {"kind": "random", "id": "load", "count": 70_000, "seed": 1, "size": "1MB", "within": "1s"}
    table = weir.run(weir.Scenario(topology, [{"pattern": rules}], name="load")).transfers
    expected = [row.split(".")[1].split("#")[0].split("-") for row in table["id"]]
    assert table["from"] == [f"g{pair[0]}" for pair in expected] and table["to"] == [f"g{pair[1]}" for pair in expected]
    assert set(table["scenario"]) == {"load"} and set(table["region"]) == {None}

    pyarrow = pytest.importorskip("pyarrow")
    read = pyarrow.table(table)
    read.validate(full=True)
    for name in ("scenario", "arbiter", "from", "to", "bottleneck_from", "bottleneck_to", "region"):
        assert pyarrow.types.is_dictionary(read[name].type), name
        assert read[name].to_pylist() == table[name], name
        chunks = read[name].chunks
        assert all(chunk.dictionary.equals(chunks[0].dictionary) for chunk in chunks), name

    pandas = pytest.importorskip("pandas", minversion="3")
    counts = pandas.DataFrame.from_arrow(table).groupby("from")["bytes"].count()
    assert counts.sum() == 70_000 and set(counts.index) == {f"g{i}" for i in range(6)}
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(table).filter(polars.col("from") == "g0").height == counts["g0"]


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


def test_pictures_of_odd_runs() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    # What has not ended is under way until the run stops.
    begun = weir.run(FOUR, until="10ms").plot_timeline()
    assert [bar.get_width() for bar in begun.patches] == pytest.approx([0.01] * 4)
    scenario = weir.Scenario(
        weir.Topology(
            [weir.switch("$s_$", weir.gpu("$x_$", link="l"), weir.gpu("y", link="l"))],
            [weir.link_type("l", bandwidth="1GB/s")],
        ),
        [weir.transfer("$x_$", "y", "1MB", id="$a_$")],
    )
    weir.run(scenario).plot_timeline().figure.canvas.draw()
    weir.run(scenario).plot_links().figure.canvas.draw()
    cluster = weir.run(SCENARIOS / "clusters" / "checkpoint.yaml").plot_timeline()
    assert len(cluster.get_legend().get_texts()) <= 6


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


def test_plots_on_axes_that_have_a_picture() -> None:
    """The first row stays on top, and what was drawn stays."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    result = weir.run(FOUR)
    axes = plt.figure().add_subplot()
    assert result.plot_timeline(axes) is axes and result.plot_timeline(ax=axes) is axes
    assert axes.yaxis_inverted() and len(axes.patches) == 8
    assert len(result.plot_links(axes, most=3).patches) == 11 and axes.yaxis_inverted()
    plt.close(axes.figure)


def test_a_page_that_no_browser_shows_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def no_browser(address: str) -> bool:
        asked.append(address)
        return False

    monkeypatch.setattr("webbrowser.open", no_browser)
    with pytest.warns(UserWarning, match="no browser opens .*: open it yourself, or `save` the page") as warned:
        weir.report(FOUR).show()
    file = Path(asked[0].removeprefix("file://"))
    assert str(file) in str(warned[0].message) and file.read_bytes().startswith(b"<!doctype html>")
    file.unlink()
    # A browser that opens it says nothing more.
    monkeypatch.setattr("webbrowser.open", lambda address: not asked.append(address))
    weir.report(FOUR).show()
    Path(asked[1].removeprefix("file://")).unlink()
