"""Names that nvcc knows without an include, since it includes the host's headers itself; NVRTC knows none.

They are declared before a source only where the compiler has missed them there: other sources are compiled as
they are, and a name that a source or its headers define is never defined twice.
"""

from __future__ import annotations

import re

_UNDEFINED = re.compile(r'identifier "(\w+)" is undefined')
_TYPES = {
    "int8_t": "signed char",
    "int16_t": "short",
    "int32_t": "int",
    "int64_t": "long long",
    "intptr_t": "long long",
    "uint8_t": "unsigned char",
    "uint16_t": "unsigned short",
    "uint32_t": "unsigned int",
    "uint64_t": "unsigned long long",
    "uintptr_t": "unsigned long long",
}
_MACROS = {
    "INFINITY": "__builtin_bit_cast(float, 0x7f800000)",
    "NAN": "__builtin_bit_cast(float, 0x7fc00000)",
    "HUGE_VALF": "__builtin_bit_cast(float, 0x7f800000)",
    "HUGE_VAL": "__builtin_bit_cast(double, 0x7ff0000000000000LL)",
    "FLT_MIN": "1.17549435e-38f",
    "FLT_MAX": "3.40282347e+38f",
    "FLT_EPSILON": "1.19209290e-07f",
    "DBL_MIN": "2.2250738585072014e-308",
    "DBL_MAX": "1.7976931348623157e+308",
    "DBL_EPSILON": "2.2204460492503131e-16",
    "M_PI": "3.14159265358979323846",
    "CHAR_BIT": "8",
    "INT_MIN": "(-2147483647 - 1)",
    "INT_MAX": "2147483647",
    "UINT_MAX": "4294967295U",
    "LLONG_MIN": "(-9223372036854775807LL - 1)",
    "LLONG_MAX": "9223372036854775807LL",
    "ULLONG_MAX": "18446744073709551615ULL",
    "INT32_MIN": "(-2147483647 - 1)",
    "INT32_MAX": "2147483647",
    "INT64_MIN": "(-9223372036854775807LL - 1)",
    "INT64_MAX": "9223372036854775807LL",
    "UINT32_MAX": "4294967295U",
    "UINT64_MAX": "18446744073709551615ULL",
}


def missed(log: str) -> set[str]:
    """Returns the names of nvcc's that a compiler's log calls undefined."""
    return {name for name in _UNDEFINED.findall(log) if name in _TYPES or name in _MACROS}


def declarations(names: set[str]) -> str:
    """Returns the source text that declares these names."""
    return "".join(
        f"typedef {_TYPES[name]} {name};\n" if name in _TYPES else f"#define {name} {_MACROS[name]}\n"
        for name in sorted(names)
    )
