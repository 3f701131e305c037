"""What the sentences of the playground's model speak of."""

from __future__ import annotations


def words(text: str) -> list[str]:
    """The words of a line."""
    return text.split()


def pairs(text: str) -> list[tuple[str, str]]:
    """`a-b c-d` -> [(a, b), (c, d)]; an underscore is a space."""
    return [
        (one.replace("_", " "), other.replace("_", " ")) for one, _, other in (p.partition("-") for p in text.split())
    ]


PEOPLE = words("Anna Tom Mia Ben Lucy Max Sara Leo Emma Sam Ada Paul Nina Jack Clara Omar")
SHE = set(words("Anna Mia Lucy Sara Emma Ada Nina Clara"))
CAPITALS = pairs(
    "France-Paris Italy-Rome Spain-Madrid Germany-Berlin England-London Japan-Tokyo China-Beijing Russia-Moscow "
    "Greece-Athens Portugal-Lisbon Austria-Vienna Poland-Warsaw Norway-Oslo Sweden-Stockholm Egypt-Cairo "
    "India-Delhi Canada-Ottawa Ireland-Dublin Cuba-Havana Peru-Lima"
)
LANGUAGES = pairs(
    "France-French Italy-Italian Spain-Spanish Germany-German England-English Japan-Japanese China-Chinese "
    "Russia-Russian Greece-Greek Portugal-Portuguese Poland-Polish Sweden-Swedish"
)
OPPOSITES = pairs(
    "hot-cold big-small good-bad happy-sad old-young long-short fast-slow up-down left-right open-closed "
    "full-empty light-dark rich-poor early-late easy-hard high-low loud-quiet wet-dry new-old strong-weak "
    "black-white day-night first-last yes-no true-false clean-dirty sweet-sour near-far"
)
DAYS = words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
MONTHS = words("January February March April May June July August September October November December")
NUMBERS = words("zero one two three four five six seven eight nine ten eleven twelve")
DIGITS = [str(number) for number in range(13)]
LETTERS = list("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
SEASONS = words("spring summer autumn winter")
CYCLES = [DAYS, MONTHS, NUMBERS, DIGITS, LETTERS, SEASONS]
SOUNDS = pairs("cat-meow dog-woof cow-moo duck-quack lion-roar sheep-baa bee-buzz frog-croak owl-hoot mouse-squeak")
YOUNG = pairs("dog-puppy cat-kitten cow-calf sheep-lamb horse-foal duck-duckling hen-chick bear-cub")
HOMES = pairs(
    "fish-in_the_water birds-in_a_nest bees-in_a_hive cows-on_a_farm lions-in_Africa people-in_houses "
    "bears-in_the_forest ducks-on_the_lake mice-in_a_hole"
)
LEGS = pairs(
    "dog-four cat-four horse-four cow-four bird-two duck-two spider-eight bee-six fish-no snake-no man-two table-four"
)
PLURALS = pairs(
    "dog-dogs cat-cats mouse-mice house-houses child-children man-men woman-women book-books box-boxes tree-trees "
    "foot-feet tooth-teeth key-keys bird-birds sheep-sheep apple-apples baby-babies city-cities"
)
COLOURS = words("red blue green yellow white black brown grey pink orange")
COLOUR_OF = pairs(
    "sky-blue grass-green snow-white coal-black sun-yellow blood-red chocolate-brown night-black milk-white "
    "sea-blue banana-yellow tomato-red"
)
DEGREES = pairs(
    "big-bigger-biggest small-smaller-smallest good-better-best bad-worse-worst tall-taller-tallest "
    "fast-faster-fastest old-older-oldest long-longer-longest cold-colder-coldest"
)
PAST = pairs(
    "go-went see-saw eat-ate run-ran take-took give-gave come-came make-made write-wrote read-read buy-bought "
    "think-thought play-played walk-walked sleep-slept sing-sang swim-swam know-knew speak-spoke"
)
FRENCH = pairs(
    "dog-chien cat-chat house-maison bread-pain water-eau milk-lait book-livre red-rouge blue-bleu day-jour "
    "night-nuit friend-ami school-école one-un two-deux three-trois yes-oui no-non thank_you-merci hello-bonjour"
)
PARTS = pairs(
    "hand-fingers foot-toes tree-leaves book-pages house-rooms car-wheels bird-wings face-eyes week-days year-months"
)
JOBS = pairs(
    "teacher-school doctor-hospital cook-kitchen farmer-farm pilot-plane sailor-ship king-castle baker-bakery "
    "judge-court actor-theatre"
)
TOOLS = pairs(
    "cut-knife write-pen open-key see-glasses sleep-bed drink-cup eat-spoon read-book sit-chair dig-spade "
    "call-phone sweep-broom"
)
ANIMALS = words("dog cat horse cow bird mouse fish bear lion fox frog duck rabbit sheep hen bee snake owl")
THINGS = words("ball book key cup box hat letter apple cake flower map phone pen bag chair coat ring stone bottle coin")
PLACES = words(
    "park school market garden beach forest library station museum kitchen city village farm river lake house"
)
FOODS = words("bread cheese soup rice pizza cake fish salad chocolate apples pasta eggs fruit honey ice_cream")
DRINKS = words("water milk tea coffee juice lemonade")
FEELINGS = words("happy sad tired hungry thirsty angry late early ready lost alone proud afraid cold ill well")
KINDS = words("little big old young black white brown happy sad kind lazy clever brave quiet strange tired hungry")
HOBBIES = words("read sing dance swim run cook paint write play draw sleep travel learn talk walk")
WEATHER = words("sunny rainy cloudy windy cold warm hot snowy")
