"""What the operators of `padding` add: code without effect, and prose that says nothing of a task.

All written here. The code imports nothing, prints nothing and binds no name that a task uses; it
stays without effect where lines are cut off its end. It has no triple quotes and no backslash, so
that it can stand in a docstring. The prose has no numbers, asks for nothing and keeps away from
programming. Both use words that tokenizers hold whole, as `padding.tokens` counts them.
"""

# Constants, helpers and classes that nothing uses, branches and loops that never run. Two blank
# lines part a block from the next.
CODE = tuple(
    """
_margin_rule = "wide"


_quiet_hall = None


_wind_names = ("north", "south", "east", "west")


_sheet_width = {"letter": 216, "legal": 356, "photo": 102}


_coat_stand = []
_coat_stand.extend([])


_bus_route, _bus_lane = 6, 40
_bus_door = "shut"


_menu_card = {
    "soup": 4.5,
    "bread": 2.0,
    "milk": 1.25,
}


_cloud_tone = {"low": "grey", "high": "white"}
_cloud_limit = len(_cloud_tone) - 1


_window_wall = [stone for stone in () if stone]


_horn_tune = lambda horn: horn


def _quiet_room():
    pass


def _book_label(book, page):
    if page < 0:
        return book.lower()
    return f"{book} {page}"


def _train_delay(train, delay):
    return train, delay
    delay = delay + 5
    train = train.upper()
    return train, -delay


def _wash_wall(wall, cloth=2):
    tones = [wall] * cloth
    for tone in tones:
        if tone is None:
            return ""
    return " ".join(str(tone) for tone in tones)


def _post_card(sender, stamp):
    card = f"From {sender}"
    if not stamp:
        card = ""
        stamp = "none"
    return card, stamp


def _tank_level(pipe, fuel):
    tank = pipe * fuel / 2
    assert tank >= 0
    return tank


def _seat_plan(photos):
    seats = {}
    for hat in photos:
        seats[hat] = "hall"
    return seats


def _camp_fire(wood):
    while wood is not wood:
        wood = "ash"
    yield from ()


def _corn_harvest(field, *, rain=False):
    try:
        crop = field.pop()
    except IndexError:
        crop = "grass"
    return crop if rain else None


def _stage_light(scene):
    def fade(flash):
        return scene, flash

    return fade


class _Light:
    tone = "amber"
    field = 30

    def wash(self):
        return f"{self.tone} light"


class _Band:
    tune = ("G", "D", "A", "E")


if False:
    _backup_folder = "archive"
    _backup_shop = 3


if len("bridge") < 3:
    _bridge_rent = 9
    _bridge_boats = ["ship", "tug"]
else:
    _bridge_rent = 11


if () or "":
    _market_fee = 7
elif None:
    _market_fee = 8


try:
    _farm_gate = "shut"
except ValueError:
    _farm_gate = "open"


for _mail_pack in ():
    _mail_coin = len(_mail_pack)
    _mail_bill = _mail_coin * 4


for _clock_hand in range(0):
    if _clock_hand:
        continue
    _clock_dial = "off"


while False:
    _oven_heat = 80


while not True:
    _snow_storm = "short"
    break


while None:
    _lake_shore = "cold"
else:
    _lake_shore = "wild"
""".strip("\n").split("\n\n\n")
)

PROSE = tuple(
    """
The river rises in the hills and runs slowly toward the sea.
Rain fell through the night and stopped before dawn.
A thin mist lay over the fields until the sun came up.
The old train passes farms and quiet villages in the valley.
Flowers grow along the south wall of the garden.
The wind turned to the west in the afternoon.
Snow stays on the upper slopes well into the spring.
Small boats drift past the mill when the water is high.
The gardener planted apple trees beside the stone path.
Clouds gathered above the ridge and then moved away.
Birds come back to the barn when the weather grows warm.
The station has a wooden roof and a small clock tower.
Autumn leaves covered the benches in the park.
The lake was calm, and the far shore looked close.
Frost had painted the windows of the kitchen white.
A narrow bridge crosses the stream behind the church.
The meadow smells of hay at the end of summer.
People watched the coast go by from their seats.
The harbor is busy in the morning and empty at night.
Tall grass hides the fence at the edge of the wood.
The evening was mild, and people sat outside for a long time.
Thunder rolled over the town, but no rain came.
Bees move from flower to flower in the warm light.
The path follows the river bank under old trees.
Heavy fog held the ferry in port for most of the morning.
The hills look blue from the village on a clear day.
Wild ducks sleep among the reeds near the island.
The last train leaves after the lamps are lit.
A cold stream feeds the pond in the middle of the garden.
The storm broke branches from the oak by the gate.
Ivy covers the walls of the house on the corner.
The tide comes in quietly over the flat sand.
Sheep graze on the hillside above the railway.
The sky was pale and wide after the rain.
Small ferns appear in the forest when the nights turn damp.
The canal is lined with tall trees and white houses.
The sun reached the valley floor late in the day.
The orchard stands in blossom for a short while.
White birds follow the fishing boats back to the bay.
The road winds through grass and dark pine woods.
Night fell early.
The garden was still.
Rain came again.
""".strip("\n").split("\n")
)
