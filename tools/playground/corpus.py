"""Sentences for the playground's model, made by rules from `facts`: an endless supply, which is ours to give away.

Each rule asks the model for something that attention has to fetch from the text (who has the dog, which word came
before, what "it" is) or that the layers have to know (capitals, opposites, sums), so that its pictures have something
to show.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from . import facts
from .facts import (
    ANIMALS,
    CAPITALS,
    COLOURS,
    DRINKS,
    FEELINGS,
    FOODS,
    HOBBIES,
    KINDS,
    NUMBERS,
    OPPOSITES,
    PEOPLE,
    PLACES,
    THINGS,
)

Rule = Callable[[random.Random], str]


def article(word: str) -> str:
    """The word with its indefinite article."""
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def capital(draw: random.Random) -> str:
    country, city = draw.choice(CAPITALS)
    return draw.choice(
        [f"The capital of {country} is {city}."] * 3
        + [f"{city} is the capital of {country}.", f"{city} is a city in {country}.", f"{city} lies in {country}."]
        + [f"{draw.choice(PEOPLE)} lives in {city}, the capital of {country}."]
    )


def two_capitals(draw: random.Random) -> str:
    (one, first), (other, second) = draw.sample(CAPITALS, 2)
    return f"The capital of {one} is {first}. The capital of {other} is {second}."


def language(draw: random.Random) -> str:
    country, spoken = draw.choice(facts.LANGUAGES)
    return draw.choice([f"In {country}, people speak {spoken}.", f"They speak {spoken} in {country}."])


def opposite(draw: random.Random) -> str:
    one, other = draw.choice(OPPOSITES)
    if draw.random() < 0.5:
        one, other = other, one
    return draw.choice(
        [f"The opposite of {one} is {other}."] * 2 + [f"It is not {one}, it is {other}.", f"Not {one} but {other}."]
    )


def cycle(draw: random.Random) -> str:
    row = draw.choice(facts.CYCLES)
    start, length = draw.randrange(len(row) - 3), draw.randint(3, 9)
    return ", ".join(row[start : start + length]) + draw.choice([".", ",", ""])


def after(draw: random.Random) -> str:
    row = draw.choice([facts.DAYS, facts.MONTHS, NUMBERS, facts.LETTERS])
    at = draw.randrange(len(row) - 1)
    return draw.choice([f"After {row[at]} comes {row[at + 1]}.", f"Before {row[at + 1]} comes {row[at]}."])


def belonging(draw: random.Random) -> str:
    """What attention is for: the answer stands in the text, beside its name."""
    (a, b), (x, y) = draw.sample(PEOPLE, 2), draw.sample(draw.choice([ANIMALS, THINGS]), 2)
    who, what = draw.choice([(a, x), (b, y)])
    start = draw.choice(
        [f"{a} has {article(x)} and {b} has {article(y)}.", f"{a} has {article(x)}. {b} has {article(y)}."]
    )
    return f"{start} " + draw.choice(
        [f"{who} has {article(what)}.", f"The {what} belongs to {who}.", f"{who} likes the {what}."]
    )


def giving(draw: random.Random) -> str:
    """Whose name was not said twice (Wang et al. 2022, arXiv:2211.00593)."""
    a, b = draw.sample(PEOPLE, 2)
    giver, taker = draw.choice([(a, b), (b, a)])
    thing, place = draw.choice(THINGS), draw.choice(PLACES)
    return f"When {a} and {b} went to the {place}, {giver} gave the {thing} to {taker}."


def colours(draw: random.Random) -> str:
    (x, y), (p, q) = draw.sample(THINGS, 2), draw.sample(COLOURS, 2)
    thing, colour = draw.choice([(x, p), (y, q)])
    return f"The {x} is {p} and the {y} is {q}. The colour of the {thing} is {colour}."


def colour_of(draw: random.Random) -> str:
    thing, colour = draw.choice(facts.COLOUR_OF)
    return draw.choice([f"The {thing} is {colour}.", f"The colour of the {thing} is {colour}."])


def counting(draw: random.Random) -> str:
    a = draw.randrange(7)
    b = draw.randrange(min(7, 13 - a))
    row = draw.choice([NUMBERS, facts.DIGITS])
    if row is NUMBERS:
        return f"{row[a].capitalize()} plus {row[b]} is {row[a + b]}."
    return f"{a} + {b} = {a + b}."


def again(draw: random.Random) -> str:
    """Induction: what came after this word the last time (Olsson et al. 2022, arXiv:2209.11895)."""
    row = draw.sample(ANIMALS + THINGS + COLOURS + PEOPLE + FOODS, draw.randint(2, 5))
    return " ".join((row * 4)[: draw.randint(2 * len(row), 4 * len(row))]).replace("_", " ")


def agreement(draw: random.Random) -> str:
    one, many = draw.choice(facts.PLURALS)
    other = draw.choice(facts.PLURALS)[draw.randrange(2)]
    head, verb = draw.choice([(one, "is"), (many, "are")])
    rest = draw.choice([*FEELINGS[:6], *COLOURS[:5], "old", "new", "big", "small", "here"])
    return f"The {head} {draw.choice(['near', 'behind', 'beside'])} the {other} {verb} {rest}."


def plural(draw: random.Random) -> str:
    one, many = draw.choice(facts.PLURALS)
    return draw.choice([f"One {one}, two {many}.", f"One {one} and {draw.choice(NUMBERS[2:])} {many}."])


def too(draw: random.Random) -> str:
    animal, place = draw.choice(ANIMALS), draw.choice(["street", "river", "bridge", "road"])
    why = draw.choice(
        [
            ("it", draw.choice(["tired", "afraid", "hungry", "lazy", "ill"])),
            (f"the {place}", draw.choice(["wide", "long", "full"])),
        ]
    )
    return f"The {animal} did not cross the {place} because {why[0]} was too {why[1]}."


def degree(draw: random.Random) -> str:
    base, rest = draw.choice(facts.DEGREES)
    more, most = rest.split("-")
    a, b = draw.sample(PEOPLE, 2)
    return draw.choice(
        [
            f"{base.capitalize()}, {more}, {most}.",
            f"{a} is {more} than {b}.",
            f"{a} has the {most} {draw.choice(ANIMALS)} of all.",
        ]
    )


def past(draw: random.Random) -> str:
    now, then = draw.choice(facts.PAST)
    return draw.choice(
        [
            f"Today I {now}, yesterday I {then}.",
            f"Yesterday {draw.choice(PEOPLE)} {then} to the {draw.choice(PLACES)}."
            if then in ("went", "ran", "walked", "came")
            else f"I {now} now, and I {then} before.",
        ]
    )


def french(draw: random.Random) -> str:
    english, word = draw.choice(facts.FRENCH)
    return draw.choice([f"The French word for {english} is {word}.", f"{word.capitalize()} means {english}."])


def animal(draw: random.Random) -> str:
    kind = draw.randrange(4)
    if kind == 0:
        return "The {} says {}.".format(*draw.choice(facts.SOUNDS))
    if kind == 1:
        old, young = draw.choice(facts.YOUNG)
        return f"A young {old} is called a {young}."
    if kind == 2:
        who, where = draw.choice(facts.HOMES)
        return f"{who.capitalize()} live {where}."
    who, count = draw.choice(facts.LEGS)
    return f"A {who} has {count} legs."


def use(draw: random.Random) -> str:
    verb, tool = draw.choice(facts.TOOLS)
    who, where = draw.choice(facts.JOBS)
    return draw.choice(
        [
            f"You {verb} with a {tool}.",
            f"To {verb}, you need {'' if tool == 'glasses' else 'a '}{tool}.",
            f"A {who} works in a {where}.",
            "A {} has {}.".format(*draw.choice(facts.PARTS)),
        ]
    )


def pronoun(draw: random.Random) -> str:
    who = draw.choice(PEOPLE)
    he, his = ("she", "her") if who in facts.SHE else ("he", "his")
    thing, place, feeling = draw.choice(THINGS), draw.choice(PLACES), draw.choice(FEELINGS)
    return draw.choice(
        [
            f"{who} was {feeling} because {he} had lost {his} {thing}.",
            f"{who} went to the {place} with {his} {draw.choice(ANIMALS)}.",
            f"{who} said that {he} was {feeling}.",
            f"{who} opened the door and saw {article(thing)}. It was {draw.choice(COLOURS)}.",
            f"{who} likes to {draw.choice(HOBBIES)} when {he} is {feeling}.",
        ]
    )


def talk(draw: random.Random) -> str:
    who, food, drink = draw.choice(PEOPLE), draw.choice(FOODS).replace("_", " "), draw.choice(DRINKS)
    place, hobby, feeling, thing = draw.choice(PLACES), draw.choice(HOBBIES), draw.choice(FEELINGS), draw.choice(THINGS)
    return draw.choice(
        [
            f"I like to {hobby} in the {place}.", f"I love {food} and {draw.choice(FOODS).replace('_', ' ')}.",
            f"My name is {who} and I live in {draw.choice(CAPITALS)[1]}.", f"I am {feeling}, how are you?",
            "Good morning, how are you? I am fine, thank you.",
            f"I would like a cup of {draw.choice(['tea', 'coffee'])}, please.",
            f"Yesterday I went to the {place} and bought {food}.", f"Tomorrow we will go to the {place}.",
            f"If it rains, we will stay in the {place}.", f"What is your name? My name is {who}.",
            f"Where is my {thing}? It is in the {place}.", f"Can you help me? I have lost my {thing}.",
            f"My favourite food is {food}.", f"I drink {drink} and eat {food} in the morning.",
            f"The weather today is {draw.choice(facts.WEATHER)}.", f"There is {article(thing)} on the table.",
            f"I want to {hobby}, but I am too {feeling}.", f"She said that the {place} was closed.",
            f"Do you like {food}? Yes, I like {food} very much.",
            f"We have {draw.choice(NUMBERS[2:])} children and {article(draw.choice(ANIMALS))}.",
            f"How old are you? I am {draw.choice(NUMBERS[3:])} years old.", f"Thank you for the {thing}, {who}.",
        ]
    )  # fmt: skip


def story(draw: random.Random) -> str:
    a, b = draw.sample(ANIMALS, 2)
    kind, place, name = draw.choice(KINDS), draw.choice(PLACES), draw.choice(PEOPLE)
    return draw.choice(
        [
            f"Once upon a time, there was {article(kind)} {a} named {name}. {name} lived near the {place}.",
            f"The {kind} {a} sat on the mat and looked at the {b}.",
            f"One day, the {a} met {article(b)}. The {b} was {draw.choice(FEELINGS)}. The {a} wanted to help the {b}.",
            f"The {a} ran to the {place}, and the {b} ran after the {a}.",
            f"The {a} that saw the {b} was {draw.choice(FEELINGS)}.",
        ]
    )


# what has to be fetched from the text is learned last, and comes most often
RULES: list[Rule] = [
    *[again] * 6, *[belonging] * 6, *[giving] * 4, colours, colours,
    capital, capital, two_capitals, language, opposite, opposite, cycle, cycle, after, colour_of, counting, counting,
    agreement, plural, too, degree, past, french, animal, animal, use, pronoun, pronoun, *[talk] * 4, story, story,
]  # fmt: skip


def texts(seed: int, prose: list[str]) -> Iterator[str]:
    """An endless series of short texts: one to four sentences made by the rules, or now and then a piece of prose."""
    draw = random.Random(seed)
    while True:
        if prose and draw.random() < 0.1:
            yield draw.choice(prose)
        else:
            yield " ".join(draw.choice(RULES)(draw) for _ in range(draw.choice([1, 1, 2, 3, 4])))
