# SPDX-License-Identifier: Apache-2.0
"""check_bill.py WHEEL...: each wheel's bill of materials follows the schema of CycloneDX."""

import sys
import zipfile

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

for path in sys.argv[1:]:
    with zipfile.ZipFile(path) as wheel:
        names = [name for name in wheel.namelist() if ".dist-info/sboms/" in name]
        texts = [wheel.read(name).decode() for name in names]
    wrong = [JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) for text in texts]
    if not names or any(wrong):
        sys.exit(f"{path}: bill of materials: {wrong or 'none'}")
