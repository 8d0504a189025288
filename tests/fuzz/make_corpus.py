"""The seeds of the fuzzers, from the fixtures of the tests and from what Python's libraries write.

      python make_corpus.py [corpus.tar.xz]

writes an archive of files HARNESS/NAME, which CMake unpacks in the folder of the build.  Nothing here
depends on the date or on chance.  Inputs that once did harm are files of their own, in regressions/.
"""
import gzip
import io
import json
import lzma
import os
import struct
import sys
import tarfile
import warnings
import zipfile
import zlib

import networkx as nx
import numpy as np
import scipy.io
import scipy.sparse as sp
from safetensors.numpy import save as save_tensors

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "fixtures")
sys.path.append(FIXTURES)
import packed  # noqa: E402

SMALL = sp.csr_matrix(np.array([[0, 1.5, 0], [2, 0, -3]]))


def packed(data, level=9):
    return gzip.compress(data, level, mtime=0)


def npy(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asanyarray(array), version=version)
    return out.getvalue()


def archive(members, method=zipfile.ZIP_DEFLATED, stream=False, zip64=False, comment=b""):
    """A zip archive; `stream` puts sizes behind the members, as into a pipe."""
    out = io.BytesIO()
    target = out
    if stream:
        class Pipe(io.RawIOBase):
            def writable(self):
                return True

            def write(self, data):
                return out.write(data)
        target = Pipe()
    with zipfile.ZipFile(target, "w", method) as z:
        z.comment = comment
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            with z.open(info, "w", force_zip64=zip64) as f:
                f.write(data)
    return out.getvalue()


def zip64_archive(members):
    """Every number in the zip64 fields, which Python writes for large files only."""
    body, directory = b"", b""
    for name, data in members.items():
        extra = struct.pack("<HHQQ", 1, 16, len(data), len(data))
        far = struct.pack("<HHQQQ", 1, 24, len(data), len(data), len(body))
        fields = struct.pack("<HHHIIIIH", 45, 0, 0, 0x210000, zlib.crc32(data), 0xFFFFFFFF,
                             0xFFFFFFFF, len(name))
        directory += (b"PK\1\2" + struct.pack("<H", 45) + fields
                      + struct.pack("<HHHHII", len(far), 0, 0, 0, 0, 0xFFFFFFFF)
                      + name.encode() + far)
        body += b"PK\3\4" + fields + struct.pack("<H", len(extra)) + name.encode() + extra + data
    end = len(body) + len(directory)
    return (body + directory
            + b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, len(members), len(members),
                                      len(directory), len(body))
            + b"PK\6\7" + struct.pack("<IQI", 0, end, 1)
            + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))


def fixture(name):
    with open(os.path.join(FIXTURES, name), "rb") as f:
        return f.read()


def matrix_market(matrix, **options):
    out = io.BytesIO()
    scipy.io.mmwrite(out, matrix, **options)
    return out.getvalue()


def pickles():
    with packed.load(os.path.join(FIXTURES, "pickles.npz.gz")) as fixtures:
        seeds = {name: fixtures[name].tobytes() for name in fixtures.files
                 if not name.startswith("ind.")}
    seeds["truncated"] = seeds["matrix_2"][:-40]
    return seeds


def arrays():
    table = np.arange(6).reshape(2, 3)
    seeds = {t: npy(table.astype(t)) for t in ["bool", "i1", "i2", "i8", "u1", "u4", "u8", "f4",
                                               "f8", "f2", ">f4", ">i8", "c8", "M8[D]"]}
    seeds = {name.replace(">", "big_").replace("[", "_").replace("]", ""): data
             for name, data in seeds.items()}
    seeds.update(
        vector=npy(np.array([3, 0, -1], "i4")), scalar=npy(np.float64(0.5)), empty=npy(np.zeros(0)),
        fortran=npy(np.asfortranarray(table.astype("f8"))), cube=npy(np.zeros((1, 2, 1))),
        texts=npy(np.array(["a", "Grüße", ""])), bytes=npy(np.array([b"x", b"\xff\0z"])),
        texts_fortran=npy(np.asfortranarray(np.array([["a", "b"], ["c", "\U0001d11e"]]))),
        version_2=npy(table, (2, 0)), version_3=npy(table, (3, 0)),
        objects=npy(np.array([1, "two", [3]], dtype=object)),
        record=npy(np.zeros(2, [("a", "<i4"), ("b", "<f8")])),
        wide=npy(np.array([2**64 - 1], "u8")),
        gz=packed(npy(table.astype("i4"))), truncated=npy(table)[:-3],
        gz_truncated=packed(npy(table))[:-3])
    return seeds


def archives():
    members = {"v.npy": npy(np.array([1.5, -2.5], "f4")), "n.npy": npy(np.arange(4)),
               "t.npy": npy(np.array(["ab", "c"])), "readme.txt": b"not an array"}
    one = {"n.npy": npy(np.arange(4))}
    # Names of ten bytes, and arrays of whole blocks: all of them lie where they can be mapped.
    mapped = {"weight.npy": npy(np.arange(24, dtype="f4").reshape(4, 6)),
              "column.npy": npy(np.arange(24, dtype="i4")),
              "minus1.npy": npy(np.full(24, -2, "i4")),
              "double.npy": npy(np.arange(12, dtype="f8"))}
    objects = {"m.npy": npy(np.array(SMALL, dtype=object))}
    return {
        "deflated": archive(members), "stored": archive(members, zipfile.ZIP_STORED),
        "stream": archive(members, stream=True),
        "stream_stored": archive(one, zipfile.ZIP_STORED, stream=True),
        "zip64_local": archive(members, zip64=True), "zip64": zip64_archive(members),
        "mapped": archive(mapped, zipfile.ZIP_STORED),
        "comment": archive(one, comment=b"PK\5\6" * 8), "empty": archive({}),
        "folders": archive({"a/b/c.npy": one["n.npy"], "a/d.npy": one["n.npy"]}),
        "climbing": archive({"../x.npy": one["n.npy"]}), "nothing": archive({"x.npy": b""}),
        "bzip2": archive(one, zipfile.ZIP_BZIP2), "objects": archive(objects),
        "truncated": archive(members)[:-30], "numpy_stored": fixture("numpy_stored.npz"),
        "numpy_refused": fixture("numpy_refused.npz"),
    }


def gzips():
    text = "".join(f"{i},{i * i % 97}\n" for i in range(200)).encode()
    raw = zlib.compressobj(9, zlib.DEFLATED, -15)
    deflated = raw.compress(text) + raw.flush()
    named = (b"\x1f\x8b\x08\x1f\0\0\0\0\2\3" + b"\3\0abc" + b"name\0" + b"comment\0")
    named += struct.pack("<H", zlib.crc32(named) & 0xFFFF)
    return {
        "text": text, "deflated": packed(text), "stored": packed(text, 0), "empty": b"",
        "packed_empty": packed(b""), "two_streams": packed(text[:50]) + packed(text[50:]),
        "trailing": packed(text) + b"\0\0\0", "truncated": packed(text)[:-5],
        "fields": named + deflated + struct.pack("<II", zlib.crc32(text), len(text)),
        "zeros": packed(bytes(200000)), "crlf": b"\xef\xbb\xbfa\r\nb\r\n\r\nlast\r",
        "threaded": b"".join(b"%d\n" % i for i in range(13000)),
        "long_line": packed(b"x" * 300000 + b"\n"), "zlib": zlib.compress(text),
    }


SKIP, ID, LABEL, NAME, NUMBER, NUMBERS = range(6)
NO, YES, GUESS = range(3)


def table(text, kinds, header=NO, first_id=0, limit=0, separator=""):
    """An input of fuzz_text.c; `text` may be bytes."""
    code = sum(kind << 3 * i for i, kind in enumerate(kinds))
    settings = len(kinds) - 1 | header << 2 | first_id << 4 | limit << 5
    last = ["", " ", "\t", ",", ";"].index(separator)
    data = text if isinstance(text, bytes) else text.encode()
    return bytes([settings, code & 255, code >> 8, last]) + data


def tables():
    edges = "source,target\n0,1\n1,2\n2,0\n"
    numbers = "1.5,-2,3e-3\n.5,0,+7\n1e30,-1e-40,00012\n"
    return {
        "edges": table(edges, [ID, ID], GUESS), "edges_header": table(edges, [ID, ID], YES),
        "weighted": table("1 2 0.5\n2 3 1e2\n", [ID, ID, NUMBER], first_id=1),
        "limited": table("0\t99\n5\t6\n", [ID, LABEL], limit=1, separator="\t"),
        "labels": table("0\n-1\n3\n", [LABEL]), "numbers": table(numbers, [NUMBERS]),
        "numbers_gz": table(packed(numbers.encode()), [NUMBERS], separator=","),
        "named": table('"a ""b""",1\nGrüße,2\n"x,y",3\n', [NAME, NUMBERS]),
        "titles": table("name;x;y\na;1;2\n", [NAME, NUMBER, NUMBER], GUESS, separator=";"),
        "skip": table('a,"b,c",1\n,,2\n', [SKIP, SKIP, ID]),
        "crlf": table(b"\xef\xbb\xbf# comment\r\n% another\r\n\r\n 1 , 2 \r\n3,4", [ID, ID]),
        "ragged": table("1,2\n1,2,3\n1\n", [ID, ID]), "empty": table("", [ID]),
        "quote": table('"open\n1\n', [NAME]), "nan": table("nan\ninf\n1e39\n", [NUMBER], GUESS),
        "digits": table("0.1000000000000000055511151231257827\n123456789012345678901234567890\n"
                        "1e-400\n9007199254740993\n", [NUMBERS]),
        "large": table("4294967296\n99999999999999999999\n", [ID]),
        "blanks": table("  a   b  \n\tc\td\n", [NAME, NAME]),
        "gz_truncated": table(packed(edges.encode())[:-6], [ID, ID]),
        "long": table(",".join("7" * 3 for _ in range(1500)) + "\n", [NUMBERS], separator=","),
        "two_streams": table(packed(b"1,2\n3") + packed(b",4\n"), [ID, ID]),
        "edges_twice": table("0,1\n5,2\n0,1\n1,1\n", [ID, ID]),
        "edges_weighted": table("0 1 .5\n5 2 1\n0 1 2\n", [ID, ID, NUMBER], limit=1),
        "edges_named": table("a,b\nb,c\na,b\n", [NAME, NAME], GUESS),
    }


def matrices():
    square = sp.coo_matrix(np.array([[1.5, 2, 0], [2, 0, -3], [0, -3, 4]]))
    skew = sp.coo_matrix(np.array([[0, 1.5], [-1.5, 0]]))
    real = matrix_market(SMALL)
    seeds = {name.replace("scipy_", ""): fixture(name) for name in
             ["scipy_array.mtx", "scipy_integer.mtx", "scipy_pattern.mtx", "scipy_real.mtx",
              "scipy_symmetric.mtx", "scipy_symmetric.mtx.gz"]}
    head = "%%MatrixMarket matrix "
    entries = b"".join(b"%d %d %d\n" % (i, i * i % 7 % i + 1, i % 7) for i in range(1, 9001))
    large = (head + "coordinate integer symmetric\n9000 9000 9000\n").encode() + entries
    seeds.update(
        skew=matrix_market(skew, symmetry="skew-symmetric"), real_gz=packed(real),
        complex=matrix_market(square * 1j), array_symmetric=matrix_market(square.toarray(),
                                                                         symmetry="symmetric"),
        truncated=real[:-8], crlf=real.replace(b"\n", b"\r\n"), gz_truncated=packed(real)[:-9],
        empty=(head + "coordinate real general\n0 0 0\n").encode(),
        array_empty=(head + "array real general\n0 3\n").encode(),
        array_skew=(head + "array integer skew-symmetric\n2 2\n5\n").encode(),
        twice=(head + "coordinate pattern general\n% c\n\n2 2 3\n1 1\n1 1\n2 2\n").encode(),
        sum=(head + "coordinate real symmetric\n2 2 2\n2 1 3e38\n2 1 3e38\n").encode(),
        pieces_gz=packed(large.replace(b"\n999 ", b"\r\n% c\n\n 999 ")),
        wide=(head + "coordinate pattern general\n1048576 1048576 1\n1 1048576\n").encode(),
        lie=(head + "coordinate real general\n2 2 99999999999\n1 1 1\n").encode(),
        pattern_symmetric=(head + "coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n").encode())
    return seeds


def layout():
    """Five nodes in the layout of lua/ladies/data/formats/npz/layout.lua."""
    ring = sp.csr_matrix((np.ones(10, "f4"), (np.repeat(np.arange(5), 2),
                                              [1, 4, 0, 2, 1, 3, 2, 4, 3, 0])), (5, 5))
    ring.sort_indices()
    features = sp.csr_matrix(np.eye(5, 3, dtype="f4"))
    arrays = {"labels": np.array([0, 1, 0, 1, -1]), "idx_train": np.array([0, 1]),
              "idx_val": np.array([2]), "idx_test": np.array([3]),
              "class_names": np.array(["a", "b"]), "node_names": np.array(list("vwxyz"))}
    for prefix, m in [("adj", ring), ("attr", features)]:
        arrays.update({prefix + "_data": m.data, prefix + "_indices": m.indices,
                       prefix + "_indptr": m.indptr, prefix + "_shape": np.array(m.shape)})
    return arrays, ring, features


def npz(arrays):
    return archive({name + ".npy": npy(array) for name, array in arrays.items()})


def safetensors(header, data=b"", length=None):
    """A file of weights with this header, a text or what json makes one of."""
    text = (header if isinstance(header, str) else json.dumps(header)).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def weights():
    def tensor(dtype, shape, begin, end):
        return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    def fixture_of(name):
        with open(os.path.join(FIXTURES, name + ".safetensors"), "rb") as f:
            return f.read()
    two = {"x": tensor("F32", [2], 0, 8), "y": tensor("I32", [1, 2], 8, 16)}
    return {
        "written": fixture_of("written"), "other": fixture_of("other"),
        "empty": safetensors({}), "nothing": b"",
        "two": safetensors(two, bytes(range(16))),
        "odd_place": safetensors({"a": tensor("U8", [3], 0, 3), "b": tensor("F32", [2], 3, 11)},
                                 bytes(range(11))),
        "metadata": safetensors({"__metadata__": {"a": "\u00e9\n\"", "b": ""}, **two}, bytes(16)),
        "escapes": safetensors('{"\\u0041\\ud834\\udd1e\\/":{"shape":[ ],\t"dtype":"F16",'
                               '"data_offsets":[0,2]}}\n  ', b"\0\x3c"),
        "overlap": safetensors({"x": tensor("U8", [4], 0, 4), "y": tensor("U8", [4], 2, 6)},
                               bytes(6)),
        "gap": safetensors({"x": tensor("U8", [1], 1, 2)}, bytes(2)),
        "twice": safetensors('{"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},'
                             '"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'),
        "overflow": safetensors({"x": tensor("F64", [2**32, 2**32, 0], 0, 0)}),
        "long": safetensors({}, length=2**63), "deep": safetensors("[" * 2000),
    }


def graphs():
    """Offsets and columns in a file, behind the numbers of rows and columns."""
    def graph(n_rows, n_cols, offsets, columns, before=0):
        offsets, columns = np.array(offsets, "<i8"), np.array(columns, "<i4")
        first, second = before + offsets.nbytes, before + offsets.nbytes + columns.nbytes
        header = {"indptr": {"dtype": "I64", "shape": [offsets.size],
                             "data_offsets": [before, first]},
                  "indices": {"dtype": "I32", "shape": [columns.size],
                              "data_offsets": [first, second]}}
        if before:
            header["x"] = {"dtype": "U8", "shape": [before], "data_offsets": [0, before]}
        text = json.dumps(header)
        text += " " * (-len(text) % 8)
        data = bytes(before) + offsets.tobytes() + columns.tobytes()
        return struct.pack("<HH", n_rows, n_cols) + safetensors(text, data)
    ring = (5, 5, [0, 2, 4, 6, 8, 10], [1, 4, 0, 2, 1, 3, 2, 4, 0, 3])
    offsets, ids = ring[2:]
    return {
        "ring": graph(*ring), "wide": graph(2, 9, [0, 1, 3], [8, 0, 5]),
        "no_rows": graph(0, 3, [0], []), "no_entries": graph(3, 3, [0] * 4, []),
        "loops": graph(3, 3, [0, 1, 2, 3], [0, 1, 2]), "odd_place": graph(*ring, before=3),
        "other_rows": graph(6, 5, offsets, ids), "narrow": graph(5, 4, offsets, ids),
        "falling": graph(5, 5, [0, 4, 2, 6, 8, 10], ids),
        "begins": graph(5, 5, [1] + offsets[1:], ids), "ends": graph(5, 5, offsets[:5] + [11], ids),
        "far": graph(5, 5, offsets[:2] + [2**62] * 3 + [10], ids),
        "negative": graph(5, 5, offsets, [-1] + ids[1:]),
        "twice": graph(5, 5, offsets, [1, 1] + ids[2:]),
        "unsorted": graph(5, 5, offsets, [4, 1] + ids[2:]),
    }


def saved_npz(matrix):
    out = io.BytesIO()
    sp.save_npz(out, matrix)
    return out.getvalue()


def data_sets_of_several_classes():
    """Labels that are a matrix of 0 and 1, and the ways to have things that others lack."""
    arrays, ring, features = layout()
    cells = np.array([[1, 0, 1], [0, 1, 0], [-1, -1, -1], [0, 0, 0], [1, 1, 1]], "f4")
    known = np.maximum(cells, 0)
    other, ring_csc = {"labels": cells.astype("i1")}, ring.tocsc()
    for name in ["indptr", "indices", "data", "shape"]:
        other["adj_matrix." + name] = np.array(getattr(ring_csc, name))
    other.update({"adj_matrix.format": np.array("csc"), "node_attr": features.toarray(),
                  "class_names": np.array(["a", "b", "c"], dtype=object),
                  "attr_names": np.array(["p", "q", "r"]), "source": np.array("here"),
                  "node_names": np.frombuffer(b"v\nw\nx\ny\nz", "u1"), "idx_train": np.array([1])})
    lines = b"".join(b",".join(b"%d" % x for x in row) + b"\n" for row in known)
    ogb = {"raw/num-node-list.csv": b"5\n", "raw/edge.csv": b"0,1\n1,2\n2,3\n3,4\n",
           "raw/node-label.csv.gz": packed(lines), "raw/node_year.csv.gz": packed(b"2000\n" * 5),
           "split/a/train.csv": b"0\n", "split/a/valid.csv": b"1\n", "split/a/test.csv": b"4\n",
           "split/b/train.csv": b"1\n"}
    pair = {"toy_graph.npz": saved_npz(ring),
            "toy_data.npz": npz({"feature": features.toarray(), "label": known,
                                 "node_types": np.array([1, 1, 2, 3, 0])})}
    tables = {"edges.csv": b"0,1,0.5\n1,2,1\n3,4,2\n", "labels.csv": b"0\n1\n0\n1\n-1\n",
              "features.npy": npy(features.toarray()),
              "cells.csv": b"p,q,r\n1,0,1\n0,1,0\n-1,-1,-1\n0,0,0\n1,1,1\n",
              "node_names.txt": b"v\nw\nx\ny\nz\n", "class_names.txt": b"a\nb\n",
              "feature_names.txt": b"p\r\nq\r\nr\r\n"}
    tsv = {"edges.tsv": b"a\tb\nann\tbob\nbob\tcat\n",
           "cells.tsv": b"n\tp\tq\nbob\t1\t0\nann\t0\t1\n",
           "features.tsv": b"n\tx\nann\t1\nbob\t0\ncat\t1\n"}
    mtx = {"edges.npz": saved_npz(ring.tocsc()), "features.npz": saved_npz(features),
           "cells.mtx": matrix_market(sp.coo_matrix(known)), "labels.csv": b"0\n1\n0\n1\n-1\n"}
    return {"cells_npz": archive({"data.npz": npz(other)}, zipfile.ZIP_STORED),
            "cells_ogb": archive(ogb), "cells_pair": archive(pair, zipfile.ZIP_STORED),
            "cells_csv": archive(tables), "cells_tsv": archive(tsv),
            "cells_mtx": archive(mtx, zipfile.ZIP_STORED)}


def data_sets():
    arrays, ring, features = layout()
    dense = {k: v for k, v in arrays.items() if not k.startswith("attr_")}
    dense["attr_matrix"] = features.toarray()
    dense["source"] = np.frombuffer(b"a text", "u1")

    def objects(m):
        return np.array(m, dtype=object)
    pickled = {"adj_matrix": objects(ring), "node_attr": objects(features),
               "node_label": arrays["labels"],
               "metadata": np.array({"class_names": ["a", "b"], "node_names": list("vwxyz")},
                                    dtype=object)}
    club = nx.Graph([("ann", "bob", {"weight": 2}), ("bob", 3), (3, 4), (3, 5, {"weight": 0.5})])
    for i, node in enumerate(club):
        club.nodes[node].update({"y": "ab"[i % 2], "split": ["train", "val", "test"][i % 3]})
    pyg = {"edge_index": np.array([[0, 1, 2, 3], [1, 2, 3, 4]]), "y": np.array([0, 1, 0, 1, -1]),
           "x": features.toarray().astype("f2"), "edge_weight": np.ones(4, "f4"),
           "train_mask": np.array([1, 1, 0, 0, 0], "?"), "class_names": np.frombuffer(b"a\nb", "u1")}
    with packed.load(os.path.join(FIXTURES, "pickles.npz.gz")) as fixtures:
        planetoid = {name: fixtures[name].tobytes() for name in fixtures.files
                     if name.startswith("ind.toy.")}
    csv = {"edges.csv": b"source,target\n0,1\n1,2\n2,3\n3,4\n4,0\n",
           "features.csv": b"1,0\n0,1\n1,1\n0.5,0\n0,0\n", "labels.csv": b"0\n1\n0\n1\n-1\n",
           "split.csv": b"node,part\n0,train\n1,val\n2,test\n3,none\n"}
    tsv = {"edges.tsv": b"ann\tbob\t0.5\nbob\tcat\t2\n",
           "features.tsv": b"ann\t1\t0\nbob\t0\t1\ncat\t1\t1\n",
           "labels.tsv": b"bob\tred\nann\tblue\n", "train.txt": b"ann\nbob\n"}
    mtx = {"edges.mtx": matrix_market(ring), "labels.csv": b"1\n2\n1\n2\n0\n",
           "features.mtx": matrix_market(features.toarray())}
    ogb = {"raw/num-node-list.csv.gz": packed(b"5\n"), "raw/num-edge-list.csv.gz": packed(b"5\n"),
           "raw/edge.csv.gz": packed(b"0,1\n1,2\n2,3\n3,4\n4,0\n"),
           "raw/node-feat.csv.gz": packed(csv["features.csv"]),
           "raw/node-label.csv": b"0\n1.0\n0\nnan\n1\n",
           "split/time/train.csv.gz": packed(b"0\n1\n"),
           "split/time/valid.csv": b"2\n", "split/time/test.csv.gz": packed(b"4\n")}
    content = {"toy.content": b"a\t1\t0\tred\nb\t0\t1\tblue\nc\t1\t1\tred\n",
               "toy.cites": b"a\tb\nb\tc\nx\ta\na\ta\n"}
    pair = {"toy_graph.npz": saved_npz(ring.tocoo()),
            "toy_data.npz": npz({"feature": features.toarray(), "label": arrays["labels"],
                                 "node_types": np.array([1, 1, 2, 3, 0])})}
    mixed = {"edges.mtx.gz": packed(matrix_market(ring)), "labels.csv": b"0\n1\n0\n1\n-1\n",
             "features.npy": npy(features.toarray())}
    return {**data_sets_of_several_classes(),
            "npz": archive({"data.npz": npz(arrays)}, zipfile.ZIP_STORED),
            "networkx": archive({"graph.json": json.dumps(nx.node_link_data(club)).encode()}),
            "pyg_safetensors": archive({"data.safetensors": save_tensors(pyg)}, zipfile.ZIP_STORED),
            "npz_dense": archive({"data.npz": npz(dense)}, zipfile.ZIP_STORED),
            "npz_pickled": archive({"data.npz": npz(pickled)}, zipfile.ZIP_STORED),
            "planetoid": archive(planetoid), "csv": archive(csv), "tsv": archive(tsv),
            "mtx": archive(mtx), "mixed": archive(mixed), "ogb": archive(ogb),
            "content": archive(content), "pair": archive(pair, zipfile.ZIP_STORED)}


NAMES = ["zip", "whl", "gz", "npz.gz", "npz", "csv.gz", "zip.gz", ""]


def imported(name, data, registered=False):
    """An input of fuzz_import.c."""
    return bytes([NAMES.index(name) | registered << 3]) + data


def unix_archive(members):
    """A zip archive as Unix packs it: the members with their modes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, (mode, data) in members.items():
            info = zipfile.ZipInfo(name)
            info.create_system, info.external_attr = 3, mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, data)
    return out.getvalue()


def imports():
    csv = {"edges.csv": b"0,1\n1,2\n2,0\n", "features.csv": b"1,0\n0,1\n1,1\n",
           "labels.csv": b"0\n1\n0\n", "split.csv": b"0,train\n1,val\n2,test\n"}
    inside = {"data/" + name: data for name, data in csv.items()}
    arrays = layout()[0]
    seeds = {
        "csv": imported("zip", archive(csv)), "wheel": imported("whl", archive(
            {**inside, "data/__init__.py": b"raise SystemExit\n", "x.dist-info/RECORD": b""})),
        "known": imported("zip", archive(inside), True), "zip_gz": imported("zip.gz", packed(
            archive(csv))),
        "npz": imported("npz", npz(arrays)), "npz_gz": imported("npz.gz", packed(npz(arrays))),
        "npz_in_zip": imported("zip", archive({"a/toy.npz": npz(arrays)}, zipfile.ZIP_STORED)),
        "several": imported("zip", archive({"a/x.npz": b"", "a/y.npz": b""})),
        "climbing": imported("zip", archive({"a/../../x.csv": b"", **csv})),
        "absolute": imported("zip", archive({"/x.csv": b"", **csv})),
        "drive": imported("zip", archive({"C:x.csv": b"", **csv})),
        "folder_and_file": imported("zip", archive({"edges.csv": b"", "edges.csv/x": b"0\n"})),
        "folders": imported("zip", archive({"a/": b"", "a/b/": b"", "a/b/edges.csv": b"0,1\n"})),
        "link": imported("zip", unix_archive({"labels.csv": (0o120777, b"../../x"),
                                              "edges.csv": (0o100644, b"0,1\n")})),
        "link_folder": imported("zip", unix_archive({"a": (0o120777, b"../../.."),
                                                     "a/edges.csv": (0o100644, b"0,1\n")})),
        "same_file": imported("zip", archive({"edges.csv": b"0,1\n", "./edges.csv": b"1\n"})),
        "zeros": imported("zip", archive({"edges.csv": bytes(1 << 20)})),
        "gz": imported("csv.gz", packed(b"0,1\n")), "nothing": imported("gz", packed(b"")),
        "tar": imported("gz", packed(bytes(257) + b"ustar" + bytes(250))),
        "gz_gz": imported("gz", packed(packed(archive(csv)))),
        "gz_truncated": imported("gz", packed(archive(csv))[:-9]),
    }
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as z:
        warnings.simplefilter("ignore")
        for data in [b"0,1\n", b"1,0\n"]:
            z.writestr(zipfile.ZipInfo("edges.csv"), data)
    seeds["twice"] = imported("zip", out.getvalue())
    return seeds


def records():
    digest = "0" * 64
    entry = ("archive a\n  wheel a 1.0 any\n  size 12\n  sha256 %s\n"
             "dataset b\n  about it\n  from a\n  base x/y\n  read ind.b\n  instead c\n"
             "  licence none\n  cite one\n  expect nodes 1, entries 2\n  file %s 12 ind.b.x\n"
             "  file - - ind.b.y\n" % (digest, digest))
    record = {"origin": "x.zip", "licence": "none", "name": "toy", "version": "1", "size": 1000,
              "date": "2020-01-01T00:00:00Z", "sha256": digest}
    texts = {"entry": "R# a comment\n\n" + entry, "crlf": "R" + entry.replace("\n", "\r\n"),
             "climbing": "R" + entry.replace("ind.b.x", "../../x"), "nowhere": "R" + entry[90:],
             "zip": "Rarchive a\n zip URL\ndataset b\n from a\n", "odd": "Rdataset b\n what x\n",
             "empty": "R", "record": "J" + json.dumps(record), "list": "J[null, 1, 2.5]",
             "types": 'J{"sha256": [], "size": {}, "name": null, "origin": true}',
             "deep": "J" + "[" * 2000, "numbers": "J[1e400, -0, 9223372036854775808, 1e-400]",
             "text": 'J"\\ud834\\udd1e \\u0000"'}
    return {name: text.encode() for name, text in texts.items()}


def main():
    seeds_of = {"pickle": pickles(), "npy": arrays(), "npz": archives(), "safetensors": weights(),
                "csr": graphs(), "gz": gzips(), "text": tables(), "mtx": matrices(),
                "data": data_sets(), "import": imports(), "records": records()}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for harness, seeds in sorted(seeds_of.items()):
            for name, data in sorted(seeds.items()):
                info = tarfile.TarInfo(f"{harness}/{name}")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "corpus.tar.xz")
    with open(path, "wb") as f:
        f.write(lzma.compress(out.getvalue(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main()
