"""Make `dissensus/data/nouns.txt.gz`: English nouns, and which of them take 'a' or 'an', from WordNet 3.0.

    apt-get download wordnet-base && dpkg -x wordnet-base_*.deb wordnet
    python scripts/make_nouns.py wordnet/usr/share/wordnet dissensus/data/nouns.txt.gz

A line is a word, and a mass noun has a '-' after it. WordNet does not say which nouns can be counted, but which of its
26 topics a sense belongs to, the most frequent sense first. A word can be counted if one of its first senses is an
animal, an artefact, a part of the body, a natural object, a person, a plant or a shape. Foods and substances are mostly
mass nouns: a word whose first sense is one can be counted only if it is also an animal, such as a lamb. Exceptions are
listed below. Names of single things, such as the Eiffel Tower, are left out; those with capitals that name a kind, such
as Samoyed, are kept.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

THINGS = {"05", "06", "08", "17", "18", "20", "25"}
ANIMALS = {"05"}
MASSES = {"13", "27"}
FIRST = 3

NOT_COUNTED = """
sky hair grass corn wheat moss broccoli wool velvet lace silk denim leather furniture food clothing vegetation luggage
baggage jewelry jewellery equipment machinery cutlery pottery glassware tableware seaweed rice barley oats maize cabbage
celery parsley basil garlic spinach asparagus cauliflower ivy bamboo fur skin blood flesh lawn ground water ice snow
sand mud soil gravel asphalt concrete pavement terrain scenery traffic underwear lingerie footwear background foreground
hardware software plumbing clutter debris rubbish litter garbage trash graffiti confectionery plankton livestock poultry
cattle cardboard plywood timber lumber wood cotton linen hay straw clothes people police brass plaster makeup lipstick
nylon fabric cloth paper plastic metal gold silver bronze perfume lotion sunscreen thatch tissue rapeseed spaghetti red
yellow green blue purple pink brown black white grey gray
"""
COUNTED = """
apple orange lemon lime banana strawberry fig pineapple pomegranate pear peach plum mango melon watermelon cucumber
tomato potato carrot onion egg pizza burger hamburger cheeseburger sandwich burrito taco bagel pretzel doughnut donut
croissant cookie biscuit cake cupcake pancake waffle pie potpie sausage hotdog lolly lollipop popsicle glass iron sign
scale racket ruler rule menu lighter pick drumstick wreck control controller website site pad alligator grouse quail
partridge coral lobster crayfish leopard beaver ram mink otter eel coho puffer bearskin digit letter logo word number
lantern trifle jack-o'-lantern ridgeback hairless loaf face smile airplane aeroplane crane
"""


def senses(folder: Path) -> tuple[dict[str, str], dict[str, set[str]]]:
    """The topic of every sense by its offset, and the spellings of its words; names of single things are left out."""
    topics: dict[str, str] = {}
    spellings: dict[str, set[str]] = {}
    for line in (folder / "data.noun").read_text("utf-8").splitlines():
        if line.startswith(" ") or " @i " in line:
            continue
        fields = line.split()
        topics[fields[0]] = fields[1]
        spellings[fields[0]] = {fields[4 + 2 * place] for place in range(int(fields[3], 16))}
    return topics, spellings


def nouns(folder: Path) -> dict[str, bool]:
    """Whether single words, in their usual spelling, can be counted."""
    topics, spellings = senses(folder)
    found: dict[str, bool] = {}
    for line in (folder / "index.noun").read_text("utf-8").splitlines():
        fields = line.split()
        word = fields[0] if not line.startswith(" ") else ""
        if not word or not word.replace("-", "").isalpha():
            continue
        every = fields[-int(fields[2]) :]
        offsets = [offset for offset in every[:FIRST] if offset in topics]
        is_name = every[0] not in topics  # Paris is a plant, too
        is_mass = bool(offsets) and topics[offsets[0]] in MASSES
        for offset in offsets:
            is_counted = topics[offset] in (ANIMALS if is_mass else THINGS)
            if is_counted or topics[offset] in MASSES:
                for one in spellings[offset]:
                    if one == word or (one.lower() == word and not is_name):
                        found[one] = found.get(one, False) or is_counted
    return found | dict.fromkeys(COUNTED.split(), True) | dict.fromkeys(NOT_COUNTED.split(), False)


def main(folder: str, target: str) -> None:
    """Write the words, one per line; the same inputs give the same bytes."""
    found = nouns(Path(folder))
    lines = [word if is_counted else f"{word} -" for word, is_counted in sorted(found.items())]
    Path(target).write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))
    print(f"{len(lines):,} words, {sum(found.values()):,} of which can be counted")


if __name__ == "__main__":
    main(*sys.argv[1:])
