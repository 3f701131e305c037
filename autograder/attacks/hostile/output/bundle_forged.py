"""Displays a bundle that is none, and one that says it is a score."""

from IPython.display import display


class Forged:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": "1.0", "application/json": [1], 5: "five", "text/html": {"a": {1, 2}}}, {"isolated": 1}


display(Forged(), metadata={"nbgrader": {"grade": True}})
display({"text/plain": "1.0", "output_type": "execute_result"}, raw=True)
Forged()
