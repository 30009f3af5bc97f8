# SPDX-License-Identifier: Apache-2.0
"""perfetto.proto against the schema that the package "perfetto" carries: names, numbers, types."""

import os
import subprocess
import sys
import tempfile

SKIP = 77
HERE = os.path.dirname(os.path.abspath(__file__))

try:
    from google.protobuf import descriptor_pb2
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
except ImportError as error:
    print("skipped:", error, "(scripts/requirements-test.txt)")
    sys.exit(SKIP)


def wire(field):
    """Enums and integers are one thing on the wire."""
    kind = descriptor_pb2.FieldDescriptorProto
    whole = {
        kind.TYPE_UINT32,
        kind.TYPE_UINT64,
        kind.TYPE_INT32,
        kind.TYPE_INT64,
        kind.TYPE_ENUM,
        kind.TYPE_BOOL,
    }
    text = {kind.TYPE_STRING, kind.TYPE_BYTES}
    return "varint" if field.type in whole else "text" if field.type in text else field.type


def check(ours, theirs, wrong):
    for field in ours.field:
        other = theirs.fields_by_name.get(field.name)
        if other is None or (other.number, wire(other)) != (field.number, wire(field)):
            wrong.append(f"{ours.name}.{field.name}")
    for inner in ours.nested_type:
        check(inner, theirs.nested_types_by_name[inner.name], wrong)


def main():
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(
            ["protoc", f"-I{HERE}", f"-o{out.name}", os.path.join(HERE, "perfetto.proto")],
            check=True,
        )
        files = descriptor_pb2.FileDescriptorSet.FromString(out.read())
    wrong, checked = [], 0
    for message in files.file[0].message_type:
        theirs = perfetto_trace_pb2.DESCRIPTOR.message_types_by_name[message.name]
        check(message, theirs, wrong)
        checked += len(message.field)
    print(f"{checked} fields compared")
    if wrong or checked < 40:
        sys.exit(f"not as in Perfetto's schema: {wrong}")


main()
