"""Write small SAS transport files (version 5), which pandas can read and not write."""

import struct

import numpy as np

_HEADER = "HEADER RECORD*******"


def write_xport(frame) -> bytes:
    """The transport file of a table; text becomes character fields of eight bytes."""
    zeros = "0" * 30
    n_columns = len(frame.columns)
    records = [
        f"{_HEADER}LIBRARY HEADER RECORD!!!!!!!{zeros}",
        f"{'SAS     SAS     SASLIB  9.4     X64':<64}01JAN16:00:00:00",
        "01JAN16:00:00:00",
        f"{_HEADER}MEMBER  HEADER RECORD!!!!!!!000000000000000001600000000140",
        f"{_HEADER}DSCRPTR HEADER RECORD!!!!!!!{zeros}",
        f"{'SAS     TABLE   SASDATA 9.4     X64':<64}01JAN16:00:00:00",
        "01JAN16:00:00:00",
        f"{_HEADER}NAMESTR HEADER RECORD!!!!!!!000000{n_columns:04d}{'0' * 20}",
    ]
    head = "".join(f"{record:<80}" for record in records).encode()
    fields = b""
    for place, name in enumerate(frame.columns):
        kind = 1 if _is_number(frame[name]) else 2
        numbers = (kind, 0, 8, place + 1)
        names = (f"{name:<8}".encode(), b" " * 40, b" " * 8)
        formats = (0, 0, 0, b"  ", b" " * 8, 0, 0, 8 * place, b" " * 52)
        fields += struct.pack(">hhhh8s40s8shhh2s8shhl52s", *numbers, *names, *formats)
    observations = f"{_HEADER}OBS     HEADER RECORD!!!!!!!{zeros}  ".encode()
    rows = b""
    for row in frame.itertuples(index=False):
        for value in row:
            is_text = isinstance(value, str)
            rows += f"{value:<8}".encode() if is_text else _ibm_double(value)
    return head + _padded(fields) + observations + _padded(rows)


def _is_number(column):
    return column.dtype.kind in "iuf"


def _padded(content: bytes) -> bytes:
    return content + b" " * (-len(content) % 80)


def _ibm_double(value: float) -> bytes:
    """IBM's hexadecimal floating point; '.' is missing.

    Sign, exponent of 16 with excess 64, fraction of 56 bits.
    """
    if np.isnan(value):
        return b"." + bytes(7)
    if value == 0:
        return bytes(8)
    sign, value, exponent = (0x80 if value < 0 else 0), abs(float(value)), 64
    while value >= 1:
        value, exponent = value / 16, exponent + 1
    while value < 1 / 16:
        value, exponent = value * 16, exponent - 1
    return bytes([sign | exponent]) + int(value * (1 << 56)).to_bytes(7, "big")
