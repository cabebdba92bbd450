from __future__ import annotations

import json
from pathlib import Path

import pytest

from flashpath.bench.environment import Environment
from flashpath.bench.record import Record, Time
from flashpath.bench.record_files import append, load, require_appendable
from flashpath.bench.timer import Timing
from flashpath.errors import FlashpathError
from flashpath.kernels.rung import Score

FULL = Record(
    implementation="tiled",
    case="4096³",
    environment=Environment(
        "cuda", gpu="H200", sm_mhz=1980.0, versions={"torch": "2.11"}, commit="ab", dirty=True
    ),
    timestamp="2026-01-01T00:00:00+00:00",
    parameters={"m": 4096, "dtype": "bf16"},
    ladder="matmul",
    language="cuda",
    time=Time(1e-3, 0.9e-3, 1.1e-3, "events, cold L2", 30),
    gb_per_s=1.5,
    tflop_per_s=137.0,
    peak_memory_bytes=1024,
    ratio_to_fastest_peer=0.9,
    fraction_of_ceiling=0.8,
    ceiling="bf16 GEMM",
    lines_of_code=120,
    dev_hours=6.5,
    portability=["sm_80", "sm_90a"],
    readability=Score(4, "one idea"),
    debugging=Score(3, "asynchronous copies"),
)
FAILED = Record(
    implementation="broken",
    case="line\u2028separator and\nnewline",
    environment=Environment("cpu", cpu="x86"),
    timestamp="2026-01-01T00:00:00+00:00",
    parameters={},
    error="wrong result",
)


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    append(path, [FULL])
    append(path, [FAILED, FULL])
    assert load(path) == [FULL, FAILED, FULL]


def test_a_line_is_plain_json_with_the_promised_fields() -> None:
    fields = json.loads(FULL.to_json())
    assert fields["time"] == {
        "median": 1e-3,
        "p20": 0.9e-3,
        "p80": 1.1e-3,
        "method": "events, cold L2",
        "samples": 30,
    }
    assert fields["environment"]["gpu"] == "H200"
    assert fields["readability"] == {"value": 4, "reason": "one idea"}
    assert "\n" not in FAILED.to_json()


def test_parameters_that_json_does_not_know_become_text() -> None:
    record = Record("a", "b", Environment("cpu"), "now", {"path": Path("x")})
    assert json.loads(record.to_json())["parameters"] == {"path": "x"}


def test_time_of_a_timing() -> None:
    assert Time.of(Timing.of([1.0, 2.0, 3.0], "hand")) == Time(2.0, 1.4, 2.6, "hand", 3)
    assert Time.of(Timing.failed("no")) is None


@pytest.mark.parametrize(
    "bad",
    ['{"implementation": "a", "cas', '{"no": "record"}', "[1, 2]", '{"time": 3}'],
)
def test_a_bad_line_is_named_by_its_number(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "results.jsonl"
    append(path, [FULL])
    path.write_text(path.read_text(encoding="utf-8") + "\n" + bad + "\n", encoding="utf-8")
    with pytest.raises(FlashpathError, match="line 3"):
        load(path)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("time", "median"), "x", "time.median should be float, but is 'x'"),
        (("time", "samples"), 1.5, "time.samples should be int"),
        (("time", "method"), None, "time.method should be str"),
        (("time",), [1], "time should be"),
        (("gb_per_s",), "fast", "gb_per_s should be"),
        (("is_peer",), 1, "is_peer should be bool"),
        (("lines_of_code",), True, "lines_of_code should be"),
        (("portability",), "sm_80", "portability should be"),
        (("portability",), [80], "portability should be str"),
        (("environment", "versions", "torch"), 2, "environment.versions.torch should be"),
        (("environment", "device"), 3, "environment.device should be str"),
        (("readability", "value"), "5", "readability.value should be int"),
        (("surprise",), 1, "unknown field 'surprise'"),
    ],
)
def test_a_value_of_the_wrong_type_is_named(
    tmp_path: Path, path: tuple[str, ...], value: object, says: str
) -> None:
    fields = json.loads(FULL.to_json())
    place = fields
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    file = tmp_path / "results.jsonl"
    file.write_text(json.dumps(fields) + "\n", encoding="utf-8")
    with pytest.raises(FlashpathError, match=f"line 1, is no benchmark record: .*{says}"):
        load(file)


def test_records_from_before_skipping_still_load(tmp_path: Path) -> None:
    fields = json.loads(FULL.to_json())
    del fields["skipped"]
    file = tmp_path / "results.jsonl"
    file.write_text(json.dumps(fields), encoding="utf-8")
    assert load(file) == [FULL]


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_bytes(b"\x1f\x8b\xff")
    with pytest.raises(FlashpathError, match="not UTF-8"):
        load(file)
    with pytest.raises(FlashpathError, match="cannot be read"):
        load(tmp_path)


def test_where_records_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    require_appendable(file)
    assert not file.exists()
    append(file, [FULL])
    require_appendable(file)
    for path, says in (
        (tmp_path, "is a folder"),
        (tmp_path / "absent" / "r.jsonl", "no folder"),
        (file / "r.jsonl", "is no folder"),
    ):
        with pytest.raises(FlashpathError, match=says):
            require_appendable(path)
        with pytest.raises(FlashpathError, match="could not be written"):
            append(path, [FULL])


def test_a_folder_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: Path, _mode: int) -> bool:
        return False

    monkeypatch.setattr("os.access", refuse)  # root may write anywhere
    with pytest.raises(FlashpathError, match="permission denied"):
        require_appendable(tmp_path / "results.jsonl")


def test_a_missing_file_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(FlashpathError, match="There is no file"):
        load(tmp_path / "absent.jsonl")


def test_appending_after_a_lost_newline_does_not_join_two_lines(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(FULL.to_json(), encoding="utf-8")
    append(path, [FAILED])
    assert load(path) == [FULL, FAILED]


def test_a_record_that_cannot_be_written_leaves_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    append(path, [FULL])
    before = path.read_bytes()
    not_json = Record("a", "b", Environment("cpu"), "now", {}, gb_per_s=float("nan"))
    with pytest.raises(ValueError, match="JSON"):
        append(path, [FULL, not_json])
    assert path.read_bytes() == before
