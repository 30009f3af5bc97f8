# SPDX-License-Identifier: Apache-2.0
"""documents.py finds each kind of violation in a made tree, and none in a sound one."""

import os
import tempfile
import unittest

import documents

TREE = {
    "README.md": "# A\n\n[Views](docs/REFERENCE.md#the-views). Set `STAGEPROF_STEPS`.\n",
    "CHANGELOG.md": "`tests/gone.py`\n",
    "docs/REFERENCE.md": "# R\n\n## The `views`\n\nsteps, 2 views, info, STAGEPROF_STEPS, STAGEPROF_LANG\n",
    "docs/EXPORTS.md": "# E\n\nsqlite\n",
    "docs/FORMAT.md": "# F\n\n## Arenas\n\n```\n# no heading\n```\n",
    "docs/FRAMEWORKS.md": "| JAX | some | yes | - | - | - | - | - | - |\n\n"
    "Only named: MLX,\nMPI.\n",
    "docs/ARCHITECTURE.md": "| pass | reads |\n|---|---|\n| definitions | a |\n| totals | b |\n\n| other |\n",
    "docs/tests/TWINS.md": "# T\n\n[format](../FORMAT.md), `trace/format.h`\n",
    "trace/format.h": '/* The layout of tails: docs/FORMAT.md,\n * "Arenas". */\n',
    "trace/frameworks.def": 'SP_FRAMEWORK(jax, "JAX", "jax",\n\t"a", SP_GIVES_SOME_STEPS | SP_GIVES_WAITS)\n'
    'SP_FRAMEWORK(mlx, "MLX", "mlx", "", mlx, 0)\nSP_FRAMEWORK(mpi, "MPI", "mpi4py", "", mpi, 0)\n',
    "preload/settings/config.def": 'SP_SETTING(run, "STAGEPROF_RUN", X)\nSP_SETTING(steps, "STAGEPROF_STEPS", X)\n',
    "analyzer/views/views.def": "SP_VIEW(steps, 0)\nSP_VIEW(info, 0)\n",
    "analyzer/exporters/exporters.def": "SP_EXPORTER(sqlite, 0)\n",
    "analyzer/report/passes.def": "SP_PASS(totals, 0)\n",
    "analyzer/verdict/doubt.def": "SP_DOUBT(few, 1)\n",
    "analyzer/verdict/whatif.def": "SP_WHAT_IF(workers, 1)\n",
}


class Documents(unittest.TestCase):
    def check(self, **files):
        """The complaints about the sound tree with these files."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in {**TREE, **files}.items():
                path = os.path.join(root, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            return documents.check(root)

    def found(self, says, **files):
        self.assertEqual(self.check(**files), [says])

    def test_sound(self):
        self.assertEqual(self.check(), [])

    def test_settings(self):
        text = TREE["docs/REFERENCE.md"]
        self.found(
            "docs/REFERENCE.md:1: no STAGEPROF_STEPS, which preload/settings/config.def has",
            **{"docs/REFERENCE.md": text.replace("STAGEPROF_STEPS", "")},
        )
        self.found("README.md:3: STAGEPROF_STEP is no setting", **self.added("README.md", "_STEP"))

    def added(self, path, end):
        return {path: "\n\nSTAGEPROF" + end + "\n"}

    def test_views(self):
        self.found(
            "docs/REFERENCE.md:1: no view info, which analyzer/views/views.def has",
            **{"docs/REFERENCE.md": TREE["docs/REFERENCE.md"].replace("info", "information")},
        )
        self.found(
            "docs/EXPORTS.md:1: no exporter sqlite, which analyzer/exporters/exporters.def has",
            **{"docs/EXPORTS.md": "# E\n"},
        )

    def test_frameworks(self):
        text = TREE["docs/FRAMEWORKS.md"]
        row = text.partition("\n")[0]
        other = row.replace("some", "yes")
        said = self.check(**{"docs/FRAMEWORKS.md": text.replace(row, other)})
        self.assertEqual(
            said,
            [
                f"docs/FRAMEWORKS.md:1: no row '{row}'",
                f"docs/FRAMEWORKS.md:1: trace/frameworks.def has no such row: '{other}'",
            ],
        )
        self.found(
            "docs/FRAMEWORKS.md:1: no row '| MPI | - | - | - | - | - | - | - | - |'",
            **{"docs/FRAMEWORKS.md": text.replace(",\nMPI", "")},
        )

    def test_passes(self):
        self.found(
            "docs/ARCHITECTURE.md:1: the table of passes lacks device_states of "
            "analyzer/report/passes.def",
            **{"analyzer/report/passes.def": "SP_PASS(totals, 0)\nSP_PASS(device_states, 0)\n"},
        )
        self.found(
            "docs/ARCHITECTURE.md:1: analyzer/report/passes.def has no pass totals",
            **{
                "analyzer/report/passes.def": "SP_PASS(ranks, 0)\n",
                "docs/ARCHITECTURE.md": TREE["docs/ARCHITECTURE.md"].replace(
                    "| totals | b |", "| totals | b |\n| ranks | c |"
                ),
            },
        )

    def test_an_empty_table(self):
        self.assertIn(
            "analyzer/views/views.def:1: no line of SP_VIEW: this table is checked",
            self.check(**{"analyzer/views/views.def": "\n"}),
        )

    def test_counts(self):
        self.found(
            "docs/HTML.md:1: 25 views: analyzer/views/views.def has 2",
            **{"docs/HTML.md": "It has 25 views.\n"},
        )
        self.assertEqual(self.check(**{"docs/HTML.md": "16-25 views, views 3, 2 views.\n"}), [])
        self.found(
            "docs/HTML.md:1: ctest -N counts the tests: say which",
            **{"docs/HTML.md": "    scripts/test      # all of it\n"},
        )

    def test_links(self):
        self.found("docs/HTML.md:1: no LOST.md", **{"docs/HTML.md": "[a](LOST.md)\n"})
        self.found(
            "docs/HTML.md:1: docs/FORMAT.md has no heading #tails",
            **{"docs/HTML.md": "[a](FORMAT.md#tails), [b](https://a.org)\n"},
        )
        self.found("docs/tests/A.md:2: no FORMAT.md", **{"docs/tests/A.md": "\n[a](FORMAT.md)\n"})

    def test_paths(self):
        self.found("docs/HTML.md:1: no file tests/lost.py", **{"docs/HTML.md": "`tests/lost.py`\n"})

    def test_headings(self):
        self.found(
            'docs/HTML.md:1: docs/FORMAT.md has no heading "Tails"',
            **{"docs/HTML.md": '[FORMAT.md](FORMAT.md), "Tails"\n'},
        )
        self.found(
            'trace/a.h:2: docs/FORMAT.md has no heading "no heading"',
            **{"trace/a.h": '/*\n * docs/FORMAT.md, "no\n * heading" */\n'},
        )
        self.found(
            "trace/a.h:1: no document docs/LOST.md",
            **{"trace/a.h": '/* docs/LOST.md, "Arenas" */\n'},
        )


if __name__ == "__main__":
    unittest.main()
