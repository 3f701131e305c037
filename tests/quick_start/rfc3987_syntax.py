"""In place of a package of that name, which jsonschema looks for and does without if it is not there.

It builds the grammar of IRIs when it is imported: 1.4 s of processor time for each process that reads a notebook, of
which the tests start hundreds. No schema of a notebook has an IRI in it. `tests/conftest.py` puts this folder first.
"""

raise ImportError("the tests leave out the grammar of IRIs: see tests/quick_start/rfc3987_syntax.py")
