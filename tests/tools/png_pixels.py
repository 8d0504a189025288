"""png_pixels.py FILE...: of each PNG, as rsvg-convert writes them (8 bits, RGB or RGBA), a line of JSON:
its pixels, how many differ from the first file's, and how many there are of each colour of many."""
import collections
import json
import struct
import sys
import zlib


def pixels_of(path):
    data, at, packed = open(path, "rb").read(), 8, b""
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at:at + 4]), data[at + 4:at + 8]
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and colour in (2, 6) and not interlaced
        elif kind == b"IDAT":
            packed += body
        at += length + 12
    n = 3 if colour == 2 else 4
    raw, before, pixels = zlib.decompress(packed), bytearray(width * n), []
    for y in range(height):
        start = y * (width * n + 1)
        how, line = raw[start], bytearray(raw[start + 1:start + 1 + width * n])
        for i in range(width * n):
            a, b, c = line[i - n] if i >= n else 0, before[i], before[i - n] if i >= n else 0
            p = a + b - c
            paeth = min((a, b, c), key=lambda x: abs(p - x))
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[how]) & 255
        pixels += [bytes(line[i:i + n]) for i in range(0, width * n, n)]
        before = line
    # What nothing was painted on lies on white paper.
    return [p[:3] if n == 3 or p[3] else b"\xff\xff\xff" for p in pixels]


first = None
for path in sys.argv[1:]:
    pixels = pixels_of(path)
    first = first or pixels
    common = collections.Counter(pixels).most_common(1000)
    print(json.dumps({"n": len(pixels), "changed": sum(p != q for p, q in zip(pixels, first)),
                      "colours": {p.hex(): count for p, count in common}}))
