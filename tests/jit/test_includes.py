"""Which files stand behind a source: the cache must see every one that the compiler reads."""

from __future__ import annotations

from pathlib import Path

import pytest

import flashpath as fp
from flashpath.jit import KernelCache
from flashpath.jit.includes import scan_includes, without_comments


def _write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_h", ".h")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _names(text: str, folder: Path | None, *include_folders: Path) -> list[str]:
    scanned = scan_includes(text, folder, include_folders)
    root = folder or include_folders[0]
    return [str(Path(found).relative_to(root.parent)) for found in scanned.digests]


def test_includes_are_followed(tmp_path: Path) -> None:
    here = tmp_path / "here"
    _write(here, a_h='#include "sub/b.h"\n', sub__b_h='  #  include\t"c.h"\n', sub__c_h="", unused_h="")
    assert _names('#include "a.h"', here) == ["here/a.h", "here/sub/b.h", "here/sub/c.h"]


def test_quoted_looks_beside_the_file_first_and_angled_does_not(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    _write(here, x_h="")
    _write(there, x_h="", y_h="")
    assert _names('#include "x.h"', here, there) == ["here/x.h"]
    assert _names("#include <x.h>", here, there) == ["there/x.h"]
    assert _names('#include "y.h"\n#include <x.h>', here, there) == ["there/y.h", "there/x.h"]
    assert _names('#include "x.h"', None, there) == ["there/x.h"]


def test_cycles_end(tmp_path: Path) -> None:
    here = tmp_path / "here"
    _write(here, a_h='#include "b.h"', b_h='#include "a.h"\n#include "b.h"')
    assert _names('#include "a.h"', here) == ["here/a.h", "here/b.h"]


def test_what_is_commented_out_or_quoted_hides_nothing(tmp_path: Path) -> None:
    here = tmp_path / "here"
    _write(here, a_h="", b_h="", c_h="", d_h="", e_h="", f_h="", no_h="")
    text = r"""
// #include "no.h"
/* #include "no.h"
#include "no.h" */
/* before */ #include /* between */ "a.h" // after
const char* open = "/*"; char quote = '"'; const char* s = "/*";
#include "b.h"
const char* raw = R"(/* ")"; int n = 1'000; const char* its = "it's /*";
#include "c.h"
char8_t u = u8'"'; char escaped = '\''; // "
#include "d.h"
#if 0
#include "e.h"
#endif
#include \
  "f.h"
"""
    assert _names(text, here) == [f"here/{letter}.h" for letter in "abcdef"]


def test_comments_are_blanked_in_place() -> None:
    text = 'a /* x\ny */ b // c "\n"// kept" d\n'
    assert without_comments(text) == 'a     \n     b       \n"// kept" d\n'
    assert without_comments(text, keep_literals=False) == "a     \n     b       \n          d\n"


def test_has_include_counts(tmp_path: Path) -> None:
    here = tmp_path / "here"
    text = '#if __has_include("maybe.h")\n#define FOUND 1\n#endif\n'
    here.mkdir()
    assert _names(text, here) == []
    _write(here, maybe_h="")
    assert _names(text, here) == ["here/maybe.h"]


def test_include_next_counts_every_file_of_that_name(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    _write(one, x_h="#include_next <x.h>\n")
    _write(two, x_h="")
    assert _names("#include <x.h>", None, one, two) == ["one/x.h", "two/x.h"]


@pytest.mark.parametrize("text", ["#define F <a.h>\n#include F\n", "#if __has_include(F)\n#endif"])
def test_what_a_macro_names_cannot_be_known(text: str) -> None:
    scanned = scan_includes(text, None, ())
    assert scanned.by_macro == ["F"]
    assert not scanned.complete


# ---- Through fp.compile --------------------------------------------------------------------------------

KERNEL = 'extern "C" __global__ void k(int* p) { *p = VALUE; }\n'


def _value(ptx: str) -> int:
    (line,) = [line for line in ptx.splitlines() if "mov.u32" in line or "mov.b32" in line]
    return int(line.rpartition(",")[2].strip(" ;"))


def test_a_changed_header_is_seen_at_any_depth(tmp_path: Path, cache: KernelCache) -> None:
    _write(tmp_path, a_h='#include "deep/b.h"', deep__b_h='#include "value.h"', value_h="#define VALUE 11\n")
    source = tmp_path / "k.cu"
    # value.h is beside the source, not beside b.h: found all the same, and angled too.
    for include in ('#include "a.h"\n', "#include <a.h>\n"):
        source.write_text(include + KERNEL)
        _write(tmp_path, value_h="#define VALUE 11\n")
        first = fp.compile(source, "sm_80", cache=cache)
        assert _value(first.ptx) == 11
        _write(tmp_path, value_h="#define VALUE 22\n")
        second = fp.compile(source, "sm_80", cache=cache)
        assert _value(second.ptx) == 22
        assert first.cache_entry.key != second.cache_entry.key


def test_a_header_that_appears_later_is_seen(tmp_path: Path, cache: KernelCache) -> None:
    late, usual = tmp_path / "late", tmp_path / "usual"
    late.mkdir()
    _write(usual, value_h="#define VALUE 33\n")
    source = '#if __has_include("extra.h")\n#include "extra.h"\n#else\n#include "value.h"\n#endif\n' + KERNEL
    assert _value(fp.compile(source, "sm_80", includes=[late, usual], cache=cache).ptx) == 33
    _write(late, value_h="#define VALUE 44\n")  # shadows the usual one
    assert _value(fp.compile(source, "sm_80", includes=[late, usual], cache=cache).ptx) == 44
    _write(usual, extra_h="#define VALUE 55\n")
    assert _value(fp.compile(source, "sm_80", includes=[late, usual], cache=cache).ptx) == 55


def test_a_source_that_includes_a_macro_is_never_cached(tmp_path: Path, cache: KernelCache) -> None:
    source = "#include HEADER\n" + KERNEL
    for value in (66, 77):
        _write(tmp_path, value_h=f"#define VALUE {value}\n")
        module = fp.compile(source, "sm_80", {"HEADER": "<value.h>"}, includes=[tmp_path], cache=cache)
        assert _value(module.ptx) == value
    assert cache.entries() == []


@pytest.mark.parametrize(
    "text",
    [
        '%:include "v.h"\n',
        '#include \\\r\n"v.h"\r\n',
        'const char* s = u8R"(/*)";\n#include "v.h"\n',
    ],
    ids=["digraph", "joined lines that end in CRLF", "a raw string with a prefix"],
)
def test_includes_in_rare_spellings_are_seen(text: str, tmp_path: Path) -> None:
    (tmp_path / "v.h").write_text("#define V 1\n")
    assert list(scan_includes(text, tmp_path, []).digests) == [str((tmp_path / "v.h").resolve())]
