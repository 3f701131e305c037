"""The first page of the course in the browser: a small transformer to play with, and the button that starts it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from autograder.feedback import tokens
from course.settings import LessonError
from tfkit_lab.page import STATIC, translations

HERE = Path(__file__).with_name("playground")
MODEL = HERE / "model.json"  # written by `python -m tools.playground`
SCRIPT = STATIC / "play.js"
# The page's own sentences; those of its script are in the front end's catalogue. The model reads English only.
IN_FRENCH = {
    '<html lang="en">': '<html lang="fr">',
    "tfkit: transformers, built by hand": "tfkit : les transformers, construits à la main",
    "<h1>Transformers, built by hand</h1>": "<h1>Les transformers, construits à la main</h1>",
    "A course in which you write every part of a transformer yourself. It runs here, in this browser tab: nothing to "
    "install, and nothing is sent anywhere.": "Un cours dans lequel vous écrivez vous-même chaque partie d’un "
    "transformer. Il s’exécute ici, dans cet onglet du navigateur : rien à installer, et rien n’est envoyé nulle part.",
    "Start the course in this tab": "Commencer le cours dans cet onglet",
    "What does a transformer make of your sentence?": "Que fait un transformer de votre phrase ?",
    "The model is on its way.": "Le modèle arrive.",
    "This part needs JavaScript.": "Cette partie demande JavaScript.",
    "A transformer with a million parameters, trained for some minutes on sentences that a program made up and on the "
    "prose of this course. It runs in this page, and knows little more than its examples.": "Un transformer d’un "
    "million de paramètres, entraîné quelques minutes sur des phrases anglaises inventées par un programme et sur la "
    "prose de ce cours : écrivez-lui en anglais. Il s’exécute dans cette page, et ne connaît guère plus que ses "
    "exemples.",
}


def write_scripts(folder: Path) -> None:
    """The page's script, and its model as a script, because a page on disk may fetch nothing else.

    Raises LessonError if the front end was not built.
    """
    if not SCRIPT.exists():
        raise LessonError("the script of the page to play with is not built: run `make setup`")
    shutil.copy(SCRIPT, folder / "play.js")
    packed = MODEL.read_text(encoding="utf-8").strip()
    (folder / "play-model.js").write_text(f"globalThis.sitePlay = {packed};\n", encoding="utf-8")


def write_first_page(folder: Path, language: str = "en") -> None:
    """`index.html` with what it loads, in the folder of a site; English unless the language is "fr".

    Raises LessonError if the front end was not built.
    """
    write_scripts(folder)
    shutil.copy(Path(tokens.__file__).with_name("tokens.css"), folder / "tokens.css")
    page = (HERE / "index.html").read_text(encoding="utf-8").replace("DARK_FRAME", tokens.DARK_FRAME)
    if language == "fr":
        page = _in_french(page)
    (folder / "index.html").write_text(page, encoding="utf-8")


def _in_french(page: str) -> str:
    """The page with its sentences in French, and those of its script, which reads them from `#play-words`."""
    for english, french in IN_FRENCH.items():
        page = page.replace(english, french)
    words = json.dumps(translations("fr", [SCRIPT]), ensure_ascii=False).replace("<", "\\u003c")
    return page.replace("</head>", f'<script type="application/json" id="play-words">{words}</script>\n</head>')
