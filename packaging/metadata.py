# SPDX-License-Identifier: Apache-2.0
"""metadata.py VERSION: the metadata of the package as the index reads it, for wheel and sdist; and
the wheel's bill of materials (CycloneDX), from the table of NOTICES.md."""

import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# With the code inside of the programs: NOTICES.md.
LICENCES = (
    "Apache-2.0 AND BSD-1-Clause AND BSD-2-Clause AND BSD-3-Clause AND LGPL-3.0-or-later AND MIT"
    " AND Unicode-DFS-2015 AND Zlib AND blessing AND GPL-2.0-or-later WITH GCC-exception-2.0"
)
METADATA = """Metadata-Version: 2.4
Name: stageprof
Version: {version}
Summary: Where a training job's time goes, with no change to the job
License-Expression: {licences}
{files}Requires-Python: >=3.8
Keywords: profiler,training,PyTorch,DataLoader,performance
Classifier: Development Status :: 4 - Beta
Classifier: Environment :: Console
Classifier: Intended Audience :: Developers
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Topic :: Software Development :: Debuggers
Classifier: Topic :: System :: Monitoring
Description-Content-Type: text/markdown

{description}"""
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:)[^)]*\)\n?", re.S)


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def description():
    """The README; the index has no file that a relative link leads to, and no picture."""
    return LINK.sub(lambda link: "" if link[0].startswith("!") else link[1], read("README.md"))


def metadata(version, licence_files):
    files = "".join(f"License-File: {name}\n" for name in licence_files)
    return METADATA.format(
        version=version, licences=LICENCES, files=files, description=description()
    )


def components():
    """Each row of NOTICES.md whose code is inside of the wheel."""
    for line in read("NOTICES.md").split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        link = re.fullmatch(r"\[(.*)\]\((.*)\)", cells[0])
        how = cells[3] if link else ""
        if link and link[1] != "glibc" and re.search("inside|link|the wheel's own", how):
            yield {
                "type": "library",
                "bom-ref": link[1],
                "name": link[1],
                "version": cells[1],
                "licenses": [{"license": {"name": cells[2]}}],
                "externalReferences": [{"type": "website", "url": link[2]}],
            }


def bill(version):
    own = {
        "type": "application",
        "bom-ref": "stageprof",
        "name": "stageprof",
        "version": version,
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "purl": f"pkg:pypi/stageprof@{version}",
    }
    parts = list(components())
    all_of_it = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": parts,
        "dependencies": [{"ref": "stageprof", "dependsOn": [part["bom-ref"] for part in parts]}],
    }
    return json.dumps(all_of_it, indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(metadata(sys.argv[1], ["LICENSE", "NOTICES.md"]))
