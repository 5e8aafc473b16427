"""English words for telling contradiction: opposites, synonyms, kinds of things. Everyday vocabulary, written for this project."""

from __future__ import annotations

OPPOSITES = """
hot:cold,cool,freezing warm:cool,cold big,large,huge:small,little,tiny tall:short long:short fast,quick,rapid:slow
early:late open:close,closed,shut start,begin:end,finish,stop arrive,come:leave,depart,go
accept,grant:reject,refuse,deny,decline agree:disagree above:below,under over:under up:down in,into:out,off
inside,indoors,indoor:outside,outdoors,outdoor on,onto:off with:without more:less,fewer most:least rich,wealthy:poor
good,great,excellent:bad,terrible,awful best:worst better:worse easy,simple:hard,difficult,complicated
happy,glad,cheerful:sad,unhappy,upset,miserable young:old,elderly new:old cheap:expensive,costly full,crowded:empty
light,bright:dark,dim left:right first:last win:lose buy,purchase:sell single,unmarried:married divorced:married
alive,live:dead,die increase,grow:decrease,shrink,decline enable:disable allow,permit:forbid,ban,prohibit true:false
lend:borrow push:pull sleep:wake,awake asleep:awake wet:dry clean:dirty,messy loud,noisy:quiet,silent strong:weak
thick:thin safe:dangerous,unsafe public:private healthy:sick,ill,unwell raise,lift:lower,drop rise:fall
maximum:minimum always:never,sometimes,rarely,seldom often,usually:rarely,seldom,never all,everybody,everyone:some,few
many:few love,like,enjoy:hate,dislike,detest add,apply:remove fill:empty,drain fold:unfold catch,hit:miss,drop
talk,speak,say,sing:silent,quiet near,close,nearby:far,distant remember:forget succeed:fail pass:fail work:unemployed
employed:unemployed find:lose keep:discard save:spend,delete build:destroy create:destroy,delete tie:untie lock:unlock
dress:undress load:unload male:female beautiful,pretty:ugly interesting:boring brave:cowardly kind:cruel polite:rude
patient:impatient honest:dishonest lucky:unlucky possible:impossible necessary:unnecessary important:unimportant
fair:unfair comfortable:uncomfortable familiar:unfamiliar known:unknown correct,right:wrong,incorrect legal:illegal
visible:invisible fresh:stale,rotten smooth:rough soft:hard sweet:bitter,sour deep:shallow wide,broad:narrow
heavy:light high:low calm:angry,nervous relaxed:stressed,tense busy:idle,free brave:afraid tired:energetic
smile,laugh:cry,frown,weep attack:defend teach:learn give:take send:receive export:import internal:external
junior:senior vegetarian,vegan:carnivore introvert:extrovert introverted:extroverted morning:evening,night day:night
north:south east:west summer:winter front:back before:after get:lose board:disembark enter:exit,leave land:fly
ground:air tighten:loosen attach:detach connect:disconnect appear:disappear assemble:disassemble shirtless:shirt
lone,alone:group,crowd,together emerge:submerge float:sink optimistic:pessimistic ancient:modern
cautious,careful:careless,reckless generous:stingy lazy:diligent,hardworking permanent:temporary,provisional
renew:cancel approve:reject join:quit,leave hire:fire arrest:release prefer:avoid trust:distrust,doubt support:oppose
love:hate major:minor guilty:innocent odd:even sober:drunk sunny:rainy,cloudy
"""
"""Pairs "word,word:opposite,opposite": any of the left against any of the right; British and American alike."""

ATTRIBUTES = """
small big large old young new wet dry long short dark light bright strong weak thick thin clean dirty rich poor tall
hot cold warm heavy high low left right first last sunny rainy full empty good bad shirtless shirt ancient modern wide
narrow deep shallow
"""
"""Of the opposites, those that often only tell which thing is meant: they count where they are said of it ("is empty")."""

ALIKE = """
person people persons human someone somebody individual
child children kid toddler
boy lad
girl lass
man men gentleman
woman women lady
cut slice chop dice cutting
talk speak chat converse
big large huge
small little tiny
dog puppy hound
cat kitten kitty
bike bicycle
motorbike motorcycle
bicyclist cyclist biker
photo picture photograph
stone rock boulder
quick fast rapid
begin start
couch sofa
shop store
sea ocean
wood forest
run jog sprint
jump leap hop
throw toss hurl
lie lay
like love enjoy
job work
movie film
mother mom mum mummy
father dad daddy
flat apartment
holiday vacation
football soccer
pan skillet
home house
buy purchase
car automobile
perform do make
look watch observe
stand standing
carry hold
pull drag
walk stroll
cook prepare
scrub wash
near next beside
eat consume
phone telephone
meal food
rabbit bunny
gun pistol
beach shore
bonfire fire
onstage stage
road street roadway path
motorcyclist biker
alone lonely
clothes clothing
couple pair
hill mountain slope
lake pond
crowd group
glass cup
shirt t-shirt tee
trousers pants
costume outfit
grass lawn field
"""
"""Words that may stand for each other here, a group a line."""

KINDS = """
person: man woman boy girl child kid lady guy baby teenager adult player rider surfer skier snowboarder cyclist
 bicyclist biker dancer singer musician guitarist chef cook doctor nurse teacher student soldier officer policeman
 policewoman worker skateboarder climber swimmer runner hiker farmer driver toddler brother sister mother father son
 daughter husband wife friend colleague boss neighbour motorcyclist
child: boy girl baby toddler daughter son
man: boy brother father husband son
woman: girl sister mother wife daughter
animal: dog cat horse cow tiger lion monkey elephant bird fish squirrel panda kitten puppy turtle sheep deer rabbit
 mouse parrot pet
pet: dog cat rabbit hamster parrot
dog: terrier retriever labrador dachshund poodle bulldog collie spaniel husky
bird: parrot duck seabird eagle crow
vegetable: carrot onion potato tomato broccoli pepper zucchini garlic cabbage spinach
fruit: apple banana pear orange grape melon watermelon mango peach
meat: beef pork chicken lamb steak
food: vegetable fruit meat bread egg noodle rice fish shrimp
vehicle: car truck bus van motorbike motorcycle bike
instrument: guitar piano flute violin drum keyboard harp trumpet saxophone cello
water: river lake ocean sea pond pool
drink: coffee tea water milk beer wine juice
sport: football tennis basketball golf swimming rugby volleyball badminton
"""
"""A kind: what is of it. To have no drink is to have no coffee, not the other way round."""
