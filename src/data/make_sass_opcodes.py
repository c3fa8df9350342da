#!/usr/bin/env python3
"""Makes sass_opcodes.tsv: which instruction an opcode is, per architecture.

    make_sass_opcodes.py --cuda-bin CUDA/bin --out sass_opcodes.tsv LIBRARY|CUBIN|FOLDER...

NVIDIA publishes no encodings, so they are read off real code: every instruction of every cubin given is
looked at; for each opcode (the low 12 bits of the 16 bytes) up to --samples instructions that differ in their
modifier bits are handed to nvdisasm, and the first word of what it prints is the mnemonic. An opcode with two
mnemonics in one family is a contradiction: the script then says so and writes nothing. Opcodes that no code
here uses are not in the table; attnscope counts them as unknown.
"""
import argparse
import collections
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

# Members of a family share their encodings; the script checks it wherever it meets two of them.
FAMILIES = {75: 75, 80: 80, 86: 80, 87: 80, 88: 80, 89: 80, 90: 90, 100: 100, 101: 100, 103: 100, 110: 110,
            120: 120, 121: 120}
# Opcodes whose mnemonic depends on further bits (found by flipping each bit of real instructions).
SELECTORS = {0x5EA: (63, 72, 73)}
CUDA_MACHINE = 190
MODIFIERS = ((1 << 105) - 1) ^ ((1 << 72) - 1)  # below: registers and immediates; above: scheduling


def code_sections(path):
    """(sm, bytes) of every .text.* section of a cubin."""
    with open(path, "rb") as file:
        image = file.read()
    if image[:4] != b"\x7fELF" or struct.unpack_from("<H", image, 18)[0] != CUDA_MACHINE:
        return
    flags, = struct.unpack_from("<I", image, 48)
    sm = (flags if image[7] == 0x33 else flags >> 8) & 0xFF
    table, = struct.unpack_from("<Q", image, 40)
    count, names = struct.unpack_from("<HH", image, 60)
    if count == 0:
        count, = struct.unpack_from("<Q", image, table + 32)
    if names == 0xFFFF:
        names, = struct.unpack_from("<I", image, table + 40)
    sections = [struct.unpack_from("<IIQQQQ", image, table + 64 * i) for i in range(count)]
    for name, kind, _, _, offset, size in sections:
        at = sections[names][4] + name
        if kind == 1 and image[at:at + 6] == b".text.":
            yield sm, image[offset:offset + size - size % 16]


def selected(opcode, low, high):
    """"63=0 72=1 73=0", or nothing."""
    whole = low | high << 64
    return " ".join(f"{bit}={whole >> bit & 1}" for bit in SELECTORS.get(opcode, ()))


def collect(path, samples, most):
    """Adds this cubin's instructions to samples[sm][opcode] = {modifier bits: the instruction}."""
    for sm, code in code_sections(path):
        by_opcode = samples[sm]
        for low, high in struct.iter_unpack("<QQ", code):
            opcode = low & 0xFFF
            kept = by_opcode[opcode]
            key = (high & (MODIFIERS >> 64), selected(opcode, low, high))
            if key not in kept and len(kept) < most:
                kept[key] = (low, high)


def disassemble(tool, sm, instructions):
    """The printed words, one for each instruction; None for what nvdisasm refuses."""
    kept = list(instructions)
    words = [None] * len(kept)
    places = list(range(len(kept)))
    while places:
        with tempfile.NamedTemporaryFile(suffix=".bin") as file:
            for place in places:
                file.write(struct.pack("<QQ", *kept[place]))
            file.flush()
            suffixes = ["a", ""] if sm >= 90 else [""]
            for suffix in suffixes:
                done = subprocess.run([tool, "-b", f"SM{sm}{suffix}", "-ndf", "-json", file.name],
                                      capture_output=True, text=True, errors="replace")
                if done.returncode == 0 and done.stdout:
                    break
        bad = {int(at, 16) // 16 for at in re.findall(r"at address (0x[0-9a-f]+)", done.stderr)}
        if bad:
            places = [p for i, p in enumerate(places) if i not in bad]
            continue
        printed = json.loads(done.stdout)[1][0]["sass-instructions"]
        if len(printed) != len(places):
            sys.exit(f"sm_{sm}: {len(places)} instructions given, {len(printed)} printed")
        for place, instruction in zip(places, printed):
            words[place] = instruction["opcode"]
        break
    return words


def cubins_of(path, tool, scratch):
    if os.path.isdir(path):
        return [os.path.join(path, name) for name in sorted(os.listdir(path))]
    if path.endswith(".cubin"):
        return [path]
    subprocess.run([tool, "-xelf", "all", os.path.abspath(path)], cwd=scratch, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [os.path.join(scratch, name) for name in sorted(os.listdir(scratch))]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--cuda-bin", required=True, help="the folder of cuobjdump and nvdisasm")
    options.add_argument("--out", required=True)
    options.add_argument("--samples", type=int, default=1000, help="instructions shown for each opcode")
    options.add_argument("inputs", nargs="+")
    options = options.parse_args()
    samples = collections.defaultdict(lambda: collections.defaultdict(dict))
    for given in options.inputs:
        with tempfile.TemporaryDirectory() as scratch:
            for cubin in cubins_of(given, os.path.join(options.cuda_bin, "cuobjdump"), scratch):
                collect(cubin, samples, options.samples)
        print(given, {sm: len(codes) for sm, codes in sorted(samples.items())}, file=sys.stderr)

    seen = collections.defaultdict(lambda: collections.defaultdict(set))  # family -> opcode -> mnemonics
    shown = collections.Counter()
    for sm, by_opcode in sorted(samples.items()):
        if sm not in FAMILIES:
            print(f"sm_{sm}: left out, CUDA 13's nvdisasm does not know it", file=sys.stderr)
            continue
        flat = [(opcode, words) for opcode, kept in sorted(by_opcode.items()) for words in kept.values()]
        printed = disassemble(os.path.join(options.cuda_bin, "nvdisasm"), sm, [words for _, words in flat])
        for (opcode, words), text in zip(flat, printed):
            if not text:  # or has no name for it
                print(f"sm_{sm}: nvdisasm refuses {opcode:#05x}: {words[1]:016x}{words[0]:016x}", file=sys.stderr)
                continue
            seen[FAMILIES[sm]][opcode, selected(opcode, *words)].add(text.split(".")[0])
            shown[FAMILIES[sm]] += 1
    contradictions = [f"sm_{family}: opcode {opcode:#05x} {bits} is {' and '.join(sorted(words))}"
                      for family, codes in sorted(seen.items())
                      for (opcode, bits), words in sorted(codes.items()) if len(words) > 1]
    if contradictions:
        sys.exit("\n".join(contradictions))

    by_row = collections.defaultdict(list)
    for family, codes in sorted(seen.items()):
        for (opcode, bits), words in codes.items():
            by_row[opcode, bits, min(words)].append(family)
    with open(options.out, "w") as out:
        out.write("# SASS opcodes (the low 12 bits of an instruction) and their mnemonics; made by make_sass_opcodes.py.\n"
                  "# Columns, separated by tabs: opcode, mnemonic, the architecture families where it was seen, and for an\n"
                  "# opcode with several mnemonics the bits that tell them apart.\n"
                  f"# Read off {', '.join(os.path.basename(name.rstrip('/')) for name in options.inputs)}.\n")
        for (opcode, bits, mnemonic), families in sorted(by_row.items()):
            end = "\t" + bits if bits else ""
            out.write(f"0x{opcode:03x}\t{mnemonic}\t{' '.join(map(str, families))}{end}\n")
    print("opcodes:", {f: len(c) for f, c in seen.items()}, "instructions shown:", dict(shown), file=sys.stderr)


if __name__ == "__main__":
    main()
