#!/usr/bin/env python3
"""Writes pictures.json: small pictures with the brightness that an independent program sees in them.

The pixels of a PNG are chosen here and packed by Python's zlib. Its brightness is computed from the pixels. The brightness of a
JPEG is what djpeg makes of it at an eighth of its size. Needs cjpeg, jpegtran, djpeg and Pillow (for inks).

usage: pictures.py
"""
import base64
import io
import json
import pathlib
import random
import struct
import subprocess
import zlib

from PIL import Image

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
STRATEGIES = [(9, zlib.Z_DEFAULT_STRATEGY), (0, zlib.Z_DEFAULT_STRATEGY), (6, zlib.Z_FIXED), (6, zlib.Z_HUFFMAN_ONLY), (1, zlib.Z_RLE)]
draw = random.Random(11)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def row_bytes(samples, depth):
    if depth == 16:
        return b"".join(struct.pack(">H", s) for s in samples)
    bits = "".join(format(s, f"0{depth}b") for s in samples)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[at:at + 8], 2) for at in range(0, len(bits), 8))


def filtered(rows, pixel):
    out, above = b"", None
    for number, row in enumerate(rows):
        above = above or bytes(len(row))
        kind = number % 5
        line = []
        for at, byte in enumerate(row):
            a = row[at - pixel] if at >= pixel else 0
            b, c = above[at], above[at - pixel] if at >= pixel else 0
            nearest = min((a, b, c), key=lambda value: abs(a + b - c - value))
            line.append((byte - [0, a, b, (a + b) // 2, nearest][kind]) & 255)
        out += bytes([kind]) + bytes(line)
        above = row
    return out


def png(colours, depth, adam, transparent, strategy):
    width, height = 21, 14
    top = (1 << depth) - 1
    palette = [tuple(draw.randrange(256) for _ in range(3)) for _ in range(1 << depth)] if colours == 3 else []
    opacities = [draw.randrange(256) for _ in palette[:5]]

    def sample(x, y, channel):
        wave = (x * 11 + y * 17 + channel * 67) % 256 / 255
        return min(top, max(0, round(top * wave) + draw.randrange(2) * (depth > 4)))

    pixels = [[[sample(x, y, c) for c in range(CHANNELS[colours])] for x in range(width)] for y in range(height)]
    clear = pixels[4][3]

    def luma(pixel):
        eight = [s >> 8 if depth == 16 else s * 255 // top for s in pixel]
        if colours == 3:
            r, g, b = palette[pixel[0]]
            alpha = opacities[pixel[0]] if transparent and pixel[0] < len(opacities) else 255
        else:
            r, g, b = eight[:3] if colours in (2, 6) else eight[:1] * 3
            alpha = eight[-1] if colours in (4, 6) else 0 if transparent and pixel == clear else 255
        return ((0.299 * r + 0.587 * g + 0.114 * b) * alpha + 255 * (255 - alpha)) / 255

    # The mean over squares of 8 by 8 pixels, each of which counts as much.
    squares = [[luma(pixels[y][x]) for y in range(v, min(v + 8, height)) for x in range(u, min(u + 8, width))]
               for v in range(0, height, 8) for u in range(0, width, 8)]
    brightness = sum(sum(s) / len(s) for s in squares) / len(squares)
    raw = b""
    for x0, y0, dx, dy in ADAM7 if adam else [(0, 0, 1, 1)]:
        rows = [row_bytes(sum((pixels[y][x] for x in range(x0, width, dx)), []), depth) for y in range(y0, height, dy)]
        raw += filtered([r for r in rows if r], max(1, depth * CHANNELS[colours] // 8))
    packer = zlib.compressobj(strategy[0], zlib.DEFLATED, 15, 8, strategy[1])
    packed = packer.compress(raw) + packer.flush()
    data = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colours, 0, 0, adam))
    if palette:
        data += chunk(b"PLTE", bytes(sum(palette, ())))
    if transparent:
        data += chunk(b"tRNS", bytes(opacities) if palette else b"".join(struct.pack(">H", s) for s in clear))
    data += b"".join(chunk(b"IDAT", packed[at:at + 100]) for at in range(0, len(packed), 100)) + chunk(b"IEND", b"")
    return brightness, b"\x89PNG\r\n\x1a\n" + data


def pgm(width, height, colours):
    shade = lambda x, y, c: int(128 + 70 * ((x * (3 + c) // 9 + y // 7) % 3 - 1) + 40 * ((x // 5 + y // 11 + c) % 2) + draw.randrange(9))
    body = bytes(max(0, min(255, shade(x, y, c))) for y in range(height) for x in range(width) for c in range(colours))
    return b"P%d %d %d 255\n" % (6 if colours == 3 else 5, width, height) + body


def run(*command, data):
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def djpeg(data, *options):
    plain = run("djpeg", "-scale", "1/8", *options, data=data)
    kind, size, _, body = plain.split(b"\n", 3)
    if kind == b"P5":
        return sum(body) / len(body)
    return sum(0.299 * body[at] + 0.587 * body[at + 1] + 0.114 * body[at + 2] for at in range(0, len(body), 3)) / (len(body) / 3)


def jpegs():
    colour = pgm(61, 45, 3)
    baseline = run("cjpeg", "-quality", "80", "-sample", "2x2", "-restart", "1", data=colour)
    yield "baseline", baseline, baseline
    for name, options in {"progressive": ["-progressive"], "arithmetic": ["-arithmetic"]}.items():
        yield name, run("cjpeg", "-quality", "80", "-sample", "2x2", *options, data=colour), baseline
    grey = run("cjpeg", "-quality", "90", "-grayscale", data=pgm(19, 33, 1))
    yield "grey", grey, grey
    red = run("cjpeg", "-rgb", "-quality", "90", data=colour)
    yield "rgb", red, red
    inks = io.BytesIO()
    Image.open(io.BytesIO(baseline)).convert("CMYK").save(inks, "JPEG", quality=90)
    yield "inks", inks.getvalue(), inks.getvalue()


def main():
    lines = []

    def add(name, brightness, data):
        lines.append({"name": name, "brightness": round(brightness, 2), "bytes": base64.b64encode(data).decode()})

    for number, (colours, depth, adam, clear) in enumerate(
            (c, d, a, t) for c in CHANNELS for d in DEPTHS[c] for a in (0, 1) for t in ((0, 1) if c in (0, 2, 3) else (0,))):
        brightness, data = png(colours, depth, adam, clear, STRATEGIES[number % len(STRATEGIES)])
        add(f"png, colours {colours}, {depth} bits" + ", Adam7" * adam + ", transparent" * clear, brightness, data)
    for name, data, judged in jpegs():
        # djpeg makes no grey picture of inks.
        add(name, djpeg(judged, *([] if name == "inks" else ["-grayscale"])), data)
    text = "[\n" + ",\n".join(json.dumps(line) for line in lines) + "\n]\n"
    (pathlib.Path(__file__).parent / "pictures.json").write_text(text)


if __name__ == "__main__":
    main()
