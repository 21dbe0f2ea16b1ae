/*
 * Words, names and sentence patterns of the generated facts.
 *
 * The generator (generate_facts.c) writes paragraphs in which three or more subjects of one kind
 * (persons, towns, companies, machines, ships) are each given the same two or three facts. This
 * file holds what it chooses from; it has no code.
 *
 * A pattern is one clause: %S stands for the subject, %A for the answer. Every relation has two
 * lists of statements and two of questions: one for the training split and one for the held-out
 * split. No pattern is in both. A held-out pattern uses words which the training lists also use,
 * in an order which they never use.
 *
 * Names are joined from syllables. All syllables occur in both splits; a hash of the joined word
 * decides which split may use the word, so no name of one split is ever a name of the other.
 */
#ifndef EXAMPLES_QA_FACT_TABLES_H
#define EXAMPLES_QA_FACT_TABLES_H

enum { MAX_PATTERNS = 12, MAX_RELATIONS = 4 };

/* What a subject or an answer is; decides how its text is made. */
enum kind {
    KIND_PERSON,
    KIND_TOWN,
    KIND_COMPANY,
    KIND_MACHINE,
    KIND_SHIP,
    KIND_YEAR,
    KIND_NUMBER,
    KIND_JOB,
    KIND_GOODS
};

/* Lists end at the first NULL. Index 0 is the training split, 1 the held-out split. */
struct relation {
    const char *name;
    enum kind answer;
    const char *statements[2][MAX_PATTERNS];
    const char *questions[2][MAX_PATTERNS];
};

struct theme {
    enum kind subject;
    struct relation relations[MAX_RELATIONS];
};

/* Syllables. A person's or ship's word is first + last, a town's is first + town ending; a
 * company's or machine's word is first + made ending. */
static const char *const first_syllables[] = {
    "mar", "bel", "tor",  "kel", "vin", "sol", "dor", "fen", "gar", "hul", "jas", "lom",
    "nor", "pel", "quin", "rov", "sib", "tam", "bru", "vor", "wes", "yar", "zel", "cal",
};
static const char *const last_syllables[] = {
    "la",  "ron", "mi",   "ta", "vek", "dan", "sie",  "na",
    "ric", "lo",  "mund", "ra", "tis", "wen", "bert", "po",
};
static const char *const town_endings[] = {
    "ton",  "wick",  "ford", "berg", "ham",  "stead", "mouth", "by",
    "dale", "field", "gate", "holm", "port", "stow",  "bury",  "well",
};
static const char *const made_endings[] = {
    "ex", "ina", "tek", "oma", "ova", "ital", "ux", "era", "ond", "ax", "umi", "ero", "ilo", "ano",
};
static const char *const company_words[] = {"Mills", "Works", "Brothers", "Company"};
static const char *const machine_words[] = {"pump", "engine", "loom", "press", "crane", "clock"};
static const char *const ship_words[] = {"ferry", "barge", "brig", "tug", "clipper", "sloop"};
static const char *const town_words[] = {"Upper", "Lower", "Old", "New", "Great", "Little"};

/* The first lesson of training: a list of names, and the order to find one of them. It teaches the
 * model to find again in the text what the question names; questions about facts need that and one
 * thing more. The held-out split has neither. */
static const char *const list_openings[MAX_PATTERNS] = {"known are ", "these are ",
                                                        "people speak of ", "here are ", NULL};
static const char *const name_questions[MAX_PATTERNS] = {"find %S", "show %S in the text", "%S?",
                                                         "where is %S in the text?", NULL};

/* Answers of two words. The hash of the pair decides the split. */
static const char *const job_first[] = {
    "glass", "cloth", "stone",  "violin", "bread",  "boat",   "map",    "clock",
    "paper", "horse", "cheese", "roof",   "garden", "bridge", "candle", "sugar",
};
static const char *const job_second[] = {
    "maker",  "seller", "painter", "carrier", "keeper",
    "cutter", "trader", "builder", "washer",  "mender",
};
static const char *const goods_first[] = {
    "red",   "blue",  "green", "white", "black", "brown",  "sweet",  "salted",
    "dried", "fresh", "heavy", "fine",  "raw",   "golden", "smoked", "painted",
};
static const char *const goods_second[] = {
    "wool",  "silk",  "tea",     "fish", "wine", "copper", "apples", "timber", "salt",
    "paper", "honey", "leather", "oil",  "rope", "bricks", "onions", "pearls", "coal",
};

/* Added before or after some statements; an empty string is the usual case. */
static const char *const openings[2][MAX_PATTERNS] = {
    {"as the records show, ", "it is known that ", "people say that ", "in fact, ",
     "according to the town books, ", "the old letters tell us that ", "everyone agrees that ",
     NULL},
    {"as everyone agrees, ", "the old records show that ", "according to the letters, ",
     "the town books tell us that ", NULL},
};
static const char *const tails[2][MAX_PATTERNS] = {
    {", as the old letters show", ", people say", " without any doubt", " in fact",
     ", according to the records", ", as everyone agrees", NULL},
    {", as the town books show", ", according to the old letters", ", the records tell us", NULL},
};

static const struct theme themes[] = {
    {KIND_PERSON,
     {{"birthplace",
       KIND_TOWN,
       {{"%S was born in %A", "%S came into the world in %A", "%A is the birthplace of %S",
         "the birthplace of %S is %A", "%S grew up in %A", "it was in %A that %S was born",
         "the family of %S lived in %A", "the parents of %S had a house in %A",
         "%A was the home of %S", "%S is from %A", "the home town of %S is %A", NULL},
        {"%A is where %S was born", "it was in %A that %S grew up", "%S had a birthplace called %A",
         "the town in which %S came into the world is %A", NULL}},
       {{"where was %S born?", "in which town was %S born?", "what is the birthplace of %S?",
         "where did %S grow up?", "which town is the home of %S?", "where is %S from?",
         "where did the family of %S live?", "in what town did %S come into the world?", NULL},
        {"in which town did %S grow up?", "what town is %S from?",
         "which town is the birthplace of %S?", NULL}}},
      {"birth year",
       KIND_YEAR,
       {{"%S was born in %A", "%S came into the world in %A", "the birth of %S was in the year %A",
         "in %A %S was born", "%S has lived since %A", "the life of %S began in %A",
         "the year of birth of %S is %A", "it was the year %A when %S was born",
         "the parents of %S had this child in %A", NULL},
        {"the year in which %S was born is %A", "in the year %A %S came into the world",
         "%A was the year of birth of %S", NULL}},
       {{"when was %S born?", "in which year was %S born?", "what is the year of birth of %S?",
         "when did %S come into the world?", "when did the life of %S begin?",
         "since when has %S lived?", NULL},
        {"what year was %S born in?", "in which year did the life of %S begin?",
         "when was the birth of %S?", NULL}}},
      {"job",
       KIND_JOB,
       {{"%S worked as a %A", "%S was a %A", "%S became a %A", "the job of %S was %A",
         "%S earned money as a %A", "%S is known as a %A", "by trade %S was a %A",
         "%S made a living as a %A", "the trade of %S was that of a %A", NULL},
        {"as a %A %S made a living", "%S was known as a %A by trade",
         "the work of %S was that of a %A", NULL}},
       {{"what did %S work as?", "what was the job of %S?", "what was %S by trade?",
         "how did %S earn money?", "what did %S become?", "what was the trade of %S?", NULL},
        {"what job did %S have?", "as what did %S make a living?", "what work did %S do?", NULL}}},
      {"goods",
       KIND_GOODS,
       {{"%S liked %A", "%S was fond of %A", "%S loved %A above all", "%S always asked for %A",
         "nothing pleased %S more than %A", "%S kept %A in the house", "%S wanted %A every day",
         "what pleased %S was %A", "%S could not do without %A", NULL},
        {"what %S loved was %A", "above all %S wanted %A", "%A pleased %S every day", NULL}},
       {{"what did %S like?", "what was %S fond of?", "what did %S love above all?",
         "what did %S always ask for?", "what pleased %S?", "what did %S want?",
         "what could %S not do without?", NULL},
        {"what did %S want above all?", "what did %S always love?", "what pleased %S every day?",
         NULL}}}}},
    {KIND_TOWN,
     {{"mayor",
       KIND_PERSON,
       {{"the mayor of %S is %A", "%A is the mayor of %S", "%S is led by %A",
         "%A has led %S for years", "the people of %S chose %A as mayor", "%A governs %S",
         "%S has a mayor called %A", "in %S the mayor is %A", "%S is governed by %A", NULL},
        {"%A is mayor in %S", "for years %S has been led by %A",
         "the mayor whom the people of %S chose is %A", NULL}},
       {{"who is the mayor of %S?", "who leads %S?", "who governs %S?",
         "whom did the people of %S choose as mayor?", "what is the mayor of %S called?",
         "by whom is %S led?", NULL},
        {"by whom is %S governed?", "who has led %S for years?", "who is mayor in %S?", NULL}}},
      {"founded",
       KIND_YEAR,
       {{"%S was founded in %A", "%S was built in %A", "the founding of %S was in %A",
         "people have lived in %S since %A", "the town of %S began in %A", "%S dates from %A",
         "the first house of %S was built in %A", "in %A %S was founded", NULL},
        {"%A was the year in which %S was founded", "the founding of %S dates from %A",
         "in the year %A the town of %S began", NULL}},
       {{"when was %S founded?", "in which year was %S founded?", "when did %S begin?",
         "since when have people lived in %S?", "from which year does %S date?",
         "when was %S built?", NULL},
        {"what year was %S founded in?", "in which year did the town of %S begin?",
         "when was the founding of %S?", NULL}}},
      {"product",
       KIND_GOODS,
       {{"%S is known for %A", "%S sells %A", "the people of %S make %A", "%A comes from %S",
         "the market of %S is full of %A", "traders buy %A in %S", "%S lives from %A",
         "%S is proud of its %A", "in %S they produce %A", NULL},
        {"in %S traders sell %A", "the market of %S is known for %A", "%A is the pride of %S",
         "what the people of %S produce is %A", NULL}},
       {{"what is %S known for?", "what does %S sell?", "what do the people of %S make?",
         "what comes from %S?", "what do traders buy in %S?", "what is %S proud of?",
         "what is the pride of %S?", NULL},
        {"what do traders sell in %S?", "what do the people of %S produce?",
         "what is the market of %S known for?", NULL}}},
      {"houses",
       KIND_NUMBER,
       {{"%S has %A houses", "there are %A houses in %S", "%S is a town of %A houses",
         "in %S you can count %A houses", "the number of houses in %S is %A",
         "the people of %S live in %A houses", "the town books of %S count %A houses", NULL},
        {"in %S there are %A houses", "you can count %A houses in %S",
         "the town of %S has %A houses", NULL}},
       {{"how many houses has %S?", "how many houses are there in %S?",
         "what is the number of houses in %S?", "how many houses can you count in %S?",
         "in how many houses do the people of %S live?", NULL},
        {"how many houses does %S have?", "in %S, how many houses are there?",
         "how many houses can you see in %S?", NULL}}}}},
    {KIND_COMPANY,
     {{"founder",
       KIND_PERSON,
       {{"%S was founded by %A", "%A founded %S", "%A is the founder of %S",
         "the founder of %S was %A", "%S was set up by %A", "%A set up %S",
         "the first plan of %S came from %A", "it was %A who began %S", NULL},
        {"it was %A who founded %S", "it was %A who set up %S", "the founder of %S is %A", NULL}},
       {{"who founded %S?", "who is the founder of %S?", "by whom was %S founded?",
         "who set up %S?", "who began %S?", "what is the founder of %S called?", NULL},
        {"by whom was %S set up?", "who was the founder of %S?", "who was it who founded %S?",
         NULL}}},
      {"opened",
       KIND_YEAR,
       {{"%S was founded in %A", "%S opened in %A", "%S began work in %A", "%S was set up in %A",
         "%S has been at work since %A", "the first day of %S was in %A", "in %A %S opened",
         "%S dates from %A", NULL},
        {"in the year %A %S began work", "since %A %S has been at work",
         "the year in which %S opened was %A", NULL}},
       {{"when was %S founded?", "when did %S open?", "in which year did %S begin work?",
         "when was %S set up?", "since when has %S been at work?", NULL},
        {"in which year did %S open?", "when did %S begin work?", "what year was %S set up in?",
         NULL}}},
      {"seat",
       KIND_TOWN,
       {{"%S has its office in %A", "the office of %S is in %A", "%S works in %A",
         "%S is at home in %A", "the workers of %S live in %A", "%S stands in %A",
         "the main house of %S is in %A", "you find %S in %A", "%A is the home of %S", NULL},
        {"in %A you find the office of %S", "%S has its main house in %A",
         "the town in which %S works is %A", NULL}},
       {{"where is the office of %S?", "in which town is %S?", "where does %S work?",
         "where do you find %S?", "where do the workers of %S live?", "where does %S stand?", NULL},
        {"in which town is the office of %S?", "where is the main house of %S?",
         "in which town does %S work?", NULL}}},
      {"sells",
       KIND_GOODS,
       {{"%S sells %A", "%S makes %A", "%S trades in %A", "%A is made by %S",
         "%S became rich with %A", "traders buy %A from %S", "the main product of %S is %A",
         "%S is known for %A", NULL},
        {"what %S makes is %A", "%A is the main product of %S", "with %A %S became known", NULL}},
       {{"what does %S sell?", "what does %S make?", "what does %S trade in?",
         "what is the main product of %S?", "what do traders buy from %S?", "what is %S known for?",
         NULL},
        {"with what did %S become rich?", "what is made by %S?", "what product does %S sell?",
         NULL}}}}},
    {KIND_MACHINE,
     {{"inventor",
       KIND_PERSON,
       {{"%S was invented by %A", "%A invented %S", "%A is the inventor of %S",
         "the inventor of %S was %A", "%A built the first model of %S", "%S was the idea of %A",
         "%A drew the plans of %S", "%S is the work of %A", NULL},
        {"it was %A who invented %S", "the plans of %S are the work of %A",
         "the first model of %S was built by %A", NULL}},
       {{"who invented %S?", "who is the inventor of %S?", "by whom was %S invented?",
         "who built the first model of %S?", "who drew the plans of %S?", "whose idea was %S?",
         NULL},
        {"who was the inventor of %S?", "by whom was the first model of %S built?",
         "whose work is %S?", NULL}}},
      {"invented",
       KIND_YEAR,
       {{"%S was invented in %A", "%S was first used in %A", "the plans of %S are from %A",
         "in %A %S was invented", "%S has been used since %A", "%S dates from %A",
         "the first model of %S was built in %A", "%S was shown for the first time in %A", NULL},
        {"in the year %A %S was first used", "the first model of %S dates from %A",
         "%A was the year in which %S was invented", NULL}},
       {{"when was %S invented?", "in which year was %S first used?",
         "since when has %S been used?", "when was %S shown for the first time?",
         "from which year are the plans of %S?", NULL},
        {"in which year was %S invented?", "when was %S first used?",
         "when was the first model of %S built?", NULL}}},
      {"place",
       KIND_TOWN,
       {{"%S is made in %A", "%S comes from %A", "the workers who build %S live in %A",
         "%S stands in a hall in %A", "%S is built in %A", "you can see %S in %A",
         "the home of %S is %A", "in %A you find %S", NULL},
        {"in %A workers build %S", "you find %S in a hall in %A",
         "the town in which %S is made is %A", NULL}},
       {{"where is %S made?", "in which town is %S built?", "where can you see %S?",
         "where does %S come from?", "where does %S stand?", NULL},
        {"in which town is %S made?", "in which town do you find %S?",
         "what town does %S come from?", NULL}}},
      {"weight",
       KIND_NUMBER,
       {{"%S weighs %A pounds", "the weight of %S is %A pounds", "%S has a weight of %A pounds",
         "%A pounds is the weight of %S", "with its wheels %S weighs %A pounds",
         "%S is a load of %A pounds", NULL},
        {"%A pounds is what %S weighs", "with a weight of %A pounds %S is a heavy load",
         "the load of %S is %A pounds", NULL}},
       {{"how many pounds does %S weigh?", "what is the weight of %S?", "how much does %S weigh?",
         "how heavy is %S?", NULL},
        {"what does %S weigh?", "what weight has %S?", "how many pounds is %S?", NULL}}}}},
    {KIND_SHIP,
     {{"captain",
       KIND_PERSON,
       {{"the captain of %S is %A", "%A is the captain of %S", "%S sails under %A",
         "%A commands %S", "%S is commanded by %A", "the sailors of %S follow %A",
         "on %S the captain is %A", "%A has sailed %S for years", NULL},
        {"the sailors of %S have a captain called %A", "%A is captain on %S", "under %A %S sails",
         NULL}},
       {{"who is the captain of %S?", "who commands %S?", "under whom does %S sail?",
         "by whom is %S commanded?", "whom do the sailors of %S follow?", NULL},
        {"who is captain on %S?", "who has sailed %S for years?",
         "what is the captain of %S called?", NULL}}},
      {"port",
       KIND_TOWN,
       {{"%S sails from %A", "the home port of %S is %A", "%S lies in %A", "%A is the port of %S",
         "every winter %S returns to %A", "%S belongs to the port of %A", NULL},
        {"the port from which %S sails is %A", "every winter %S lies in %A",
         "to %A %S returns every year", NULL}},
       {{"where does %S sail from?", "what is the home port of %S?", "where does %S lie?",
         "to which port does %S belong?", "where does %S return every winter?", NULL},
        {"from which port does %S sail?", "where does %S lie every winter?",
         "which port is the home of %S?", NULL}}},
      {"cargo",
       KIND_GOODS,
       {{"%S carries %A", "the cargo of %S is %A", "%S is loaded with %A", "%S brings %A",
         "%A is the cargo of %S", "traders wait for the %A of %S", "%S came back with %A",
         "the load of %S was %A", NULL},
        {"what %S brings is %A", "with %A %S is loaded", "%S came with a load of %A", NULL}},
       {{"what does %S carry?", "what is the cargo of %S?", "what is %S loaded with?",
         "what does %S bring?", "with what did %S come back?", NULL},
        {"what cargo does %S carry?", "with what is %S loaded?", "what was the load of %S?",
         NULL}}},
      {"length",
       KIND_NUMBER,
       {{"%S is %A feet long", "the length of %S is %A feet", "%S has a length of %A feet",
         "%S has %A feet of length", "%A feet is the length of %S", "you can count %A feet on %S",
         "with its bow %S has %A feet", NULL},
        {"with a length of %A feet %S is long", "the number of feet of %S is %A",
         "on %S you can count %A feet", NULL}},
       {{"how long is %S?", "what is the length of %S?", "how many feet long is %S?",
         "how many feet can you count on %S?", "what is the number of feet of %S?", NULL},
        {"how many feet has %S?", "what length has %S?", "how many feet is the length of %S?",
         NULL}}}}},
};

#endif
