/*
 * Words, names and sentence patterns of the generated facts.
 *
 * The generator (generate_facts.c) writes paragraphs in which three subjects of one kind (persons,
 * towns, companies, machines, ships) are each given the same two facts. This file holds what it
 * chooses from; it has no code.
 *
 * A pattern is one clause: %S stands for the subject, %A for the answer. Every relation has two
 * lists of statements and two of questions: one for the training split and one for the held-out
 * split. No pattern is in both. A held-out pattern uses words which the training lists also use,
 * in an order which they never use. The subject comes before the answer in all statements, so a
 * sentence can be read from left to right: the model has a minute to learn to read.
 *
 * Names are joined from syllables. All syllables occur in both splits; a hash of the joined word
 * decides which split may use the word, so no name of one split is ever a name of the other.
 */
#ifndef EXAMPLES_QA_FACT_TABLES_H
#define EXAMPLES_QA_FACT_TABLES_H

enum { MAX_PATTERNS = 14, MAX_RELATIONS = 4 };

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

/* Syllables. The word of a subject begins with one of the first list; its ending tells the kind.
 * Persons and towns that are answers begin with one of the two lists after it. */
static const char *const first_syllables[] = {
    "mar", "bel", "tor",  "kel", "vin", "sol", "dor", "fen", "gar", "hul", "jas", "lom",
    "nor", "pel", "quin", "rov", "sib", "tam", "bru", "vor", "wes", "yar", "zel", "cal",
};
static const char *const person_syllables[] = {
    "ath", "ed", "os", "ag", "il", "ur", "em", "av", "ob", "ul", "ig", "est",
};
static const char *const town_syllables[] = {
    "ash", "oak", "elm", "pen", "wal", "kirk", "thorn", "hal", "brad", "lang", "mil", "shep",
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

/* The easy paragraphs of training: a list of names, and the order to find one of them. They teach
 * the model to find again in the text what the question names; questions about facts need that and
 * one thing more. The held-out split has none. */
static const char *const list_openings[MAX_PATTERNS] = {"known are ", "these are ",
                                                        "people speak of ", "here are ", NULL};
static const char *const name_questions[MAX_PATTERNS] = {"find %S", "show %S in the text", "%S?",
                                                         "where is %S in the text?", NULL};

/* As easy: the barest facts, for the order to find what stands beside a name. */
static const char *const bare_statements[MAX_PATTERNS] = {"%S is %A", "%S has %A", "%S: %A",
                                                          "%S in %A", "%S by %A",  NULL};
static const char *const bare_questions[MAX_PATTERNS] = {"%S?", "what of %S?", "and %S?",
                                                         "what is %S?", NULL};

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

static const struct theme themes[] = {
    {KIND_PERSON,
     {{"birthplace",
       KIND_TOWN,
       {{"%S was born in %A", "%S came into the world in %A", "the birthplace of %S is %A",
         "%S grew up in %A", "the family of %S lived in %A", "%S is from %A",
         "the home town of %S is %A", "the town of %S is %A", NULL},
        {"the family of %S is from %A", "the home of %S was in %A", "the birthplace of %S was %A",
         NULL}},
       {{"where was %S born?", "in which town was %S born?", "what is the birthplace of %S?",
         "where did %S grow up?", "which town is the home of %S?", "where is %S from?",
         "where did the family of %S live?", "what is the home town of %S?",
         "in which town did the family of %S live?", "from which town is %S?",
         "which town is the town of %S?", NULL},
        {"in which town did %S grow up?", "which town is %S from?",
         "which town is the birthplace of %S?", NULL}}},
      {"birth year",
       KIND_YEAR,
       {{"%S was born in %A", "%S came into the world in %A", "the birth of %S was in %A",
         "%S has lived since %A", "the life of %S began in %A", "the year of birth of %S is %A",
         NULL},
        {"%S was born in the year %A", "the life of %S began in the year %A",
         "the year of birth of %S was %A", NULL}},
       {{"when was %S born?", "in which year was %S born?", "what is the year of birth of %S?",
         "when did %S come into the world?", "when did the life of %S begin?",
         "since when has %S lived?", "what was the year of birth of %S?",
         "in which year did %S begin to live?", "when was the year of birth of %S?",
         "when did %S begin life?", NULL},
        {"in which year did %S come into the world?", "in which year did the life of %S begin?",
         "when was the birth of %S?", NULL}}},
      {"job",
       KIND_JOB,
       {{"%S worked as a %A", "%S was a %A", "%S became a %A", "the job of %S was %A",
         "%S earned money as a %A", "%S is known as a %A", "%S made a living as a %A",
         "the trade of %S was that of a %A", NULL},
        {"%S was known as a %A", "%S earned a living as a %A", "the job of %S was that of a %A",
         NULL}},
       {{"what did %S work as?", "what was the job of %S?", "what was %S by trade?",
         "how did %S earn money?", "what did %S become?", "what was the trade of %S?",
         "which job did %S have?", "what job had %S?", "which work did %S do?",
         "what did %S do for a living?", "how did %S make money?", NULL},
        {"what job did %S have?", "how did %S make a living?", "what work did %S do?", NULL}}},
      {"goods",
       KIND_GOODS,
       {{"%S liked %A", "%S was fond of %A", "%S loved %A", "%S always asked for %A",
         "%S kept %A in the house", "%S wanted %A every day", "what pleased %S was %A", NULL},
        {"what %S loved was %A", "%S always wanted %A", "%S asked for %A every day", NULL}},
       {{"what did %S like?", "what was %S fond of?", "what did %S love above all?",
         "what did %S always ask for?", "what pleased %S?", "what did %S want?",
         "what did %S love?", "what did %S want every day?", "what did %S keep in the house?",
         "what did %S ask for every day?", NULL},
        {"what did %S want above all?", "what did %S always love?", "what pleased %S every day?",
         NULL}}}}},
    {KIND_TOWN,
     {{"mayor",
       KIND_PERSON,
       {{"the mayor of %S is %A", "%S is led by %A", "the people of %S chose %A as mayor",
         "%S has a mayor called %A", "in %S the mayor is %A", "%S is governed by %A", NULL},
        {"%S was led by %A", "in %S the mayor is called %A", "the mayor whom %S chose is %A",
         NULL}},
       {{"who is the mayor of %S?", "who leads %S?", "who governs %S?",
         "whom did the people of %S choose as mayor?", "what is the mayor of %S called?",
         "by whom is %S led?", "whom did the people of %S choose?", "which mayor did %S choose?",
         "who is called mayor of %S?", "who was chosen as mayor in %S?",
         "by which mayor is %S governed?", NULL},
        {"by whom is %S governed?", "whom did %S choose as mayor?", "who is mayor in %S?", NULL}}},
      {"founded",
       KIND_YEAR,
       {{"%S was founded in %A", "%S was built in %A", "the founding of %S was in %A",
         "people have lived in %S since %A", "the town of %S began in %A", "%S dates from %A",
         NULL},
        {"the town of %S was founded in %A", "the founding of %S dates from %A",
         "the town of %S dates from the year %A", NULL}},
       {{"when was %S founded?", "in which year was %S founded?", "when did %S begin?",
         "since when have people lived in %S?", "from which year does %S date?",
         "when was %S built?", "in which year did people begin to live in %S?",
         "when did the town of %S begin?", "what is the year of the founding of %S?",
         "in which year was the town of %S founded?", NULL},
        {"in which year was %S built?", "in which year did the town of %S begin?",
         "when was the founding of %S?", NULL}}},
      {"product",
       KIND_GOODS,
       {{"%S is known for %A", "%S sells %A", "the people of %S make %A", "in %S they produce %A",
         "the market of %S is full of %A", "%S lives from %A", "%S is proud of its %A", NULL},
        {"in %S they make %A", "the market of %S is known for %A", "the people of %S sell %A",
         NULL}},
       {{"what is %S known for?", "what does %S sell?", "what do the people of %S make?",
         "what comes from %S?", "what do traders buy in %S?", "what is %S proud of?",
         "for what is the market of %S known?", "what is the market of %S full of?",
         "what do the people of %S sell?", "what do they make in %S?",
         "what do traders buy from %S?", NULL},
        {"what do traders sell in %S?", "what do the people of %S buy?",
         "what is the market of %S known for?", NULL}}},
      {"houses",
       KIND_NUMBER,
       {{"%S has %A houses", "in %S there are %A houses", "%S is a town of %A houses",
         "in %S you can count %A houses", "the number of houses in %S is %A",
         "the people of %S live in %A houses", NULL},
        {"the people of %S have %A houses", "the number of houses of %S is %A",
         "the town of %S has %A houses", NULL}},
       {{"how many houses has %S?", "how many houses are there in %S?",
         "what is the number of houses in %S?", "how many houses can you count in %S?",
         "in how many houses do the people of %S live?", "in %S, how many houses can you count?",
         "how many houses do you find in %S?", "how many houses have the people of %S?",
         "how many houses does the town of %S have?", "in %S, what is the number of houses?", NULL},
        {"how many houses does %S have?", "in %S, how many houses are there?",
         "how many houses do the people of %S have?", NULL}}}}},
    {KIND_COMPANY,
     {{"founder",
       KIND_PERSON,
       {{"%S was founded by %A", "the founder of %S was %A", "%S was set up by %A",
         "the first plan of %S came from %A", "%S was begun by %A", "%S has a founder called %A",
         NULL},
        {"the founder of %S is %A", "the founder of %S was called %A",
         "the plan of %S came from %A", NULL}},
       {{"who founded %S?", "who is the founder of %S?", "by whom was %S founded?",
         "who set up %S?", "who began %S?", "what is the founder of %S called?",
         "who was it who began %S?", "from whom did the plan of %S come?",
         "by whom was the plan of %S drawn?", "which founder has %S?", NULL},
        {"by whom was %S set up?", "who was the founder of %S?", "by whom was %S begun?", NULL}}},
      {"opened",
       KIND_YEAR,
       {{"%S was founded in %A", "%S opened in %A", "%S began work in %A", "%S was set up in %A",
         "%S has been at work since %A", "the first day of %S was in %A", "%S dates from %A", NULL},
        {"%S has worked since %A", "%S opened in the year %A", "the work of %S began in %A", NULL}},
       {{"when was %S founded?", "when did %S open?", "in which year did %S begin work?",
         "when was %S set up?", "since when has %S been at work?", "when did the work of %S begin?",
         "from which year does %S date?", "in which year did %S open its house?",
         "in which year was %S founded?", NULL},
        {"in which year did %S open?", "when did %S begin work?", "in which year was %S set up?",
         NULL}}},
      {"seat",
       KIND_TOWN,
       {{"%S has its office in %A", "the office of %S is in %A", "%S works in %A",
         "%S is at home in %A", "the workers of %S live in %A", "%S stands in %A",
         "the main house of %S is in %A", NULL},
        {"the office of %S stands in %A", "%S has its main house in %A", "the home of %S is in %A",
         NULL}},
       {{"where is the office of %S?", "in which town is %S?", "where does %S work?",
         "where do you find %S?", "where do the workers of %S live?", "where does %S stand?",
         "in which town does %S stand?", "where do they find %S?",
         "in which town is the main house of %S?", "where is the home of %S?", NULL},
        {"in which town is the office of %S?", "where is the main house of %S?",
         "in which town does %S work?", NULL}}},
      {"sells",
       KIND_GOODS,
       {{"%S sells %A", "%S makes %A", "%S trades in %A", "%S became rich with %A",
         "the main product of %S is %A", "%S is known for %A", NULL},
        {"%S became known with %A", "the product of %S is %A", "%S is rich with %A", NULL}},
       {{"what does %S sell?", "what does %S make?", "what does %S trade in?",
         "what is the main product of %S?", "what do traders buy from %S?", "what is %S known for?",
         "what product does %S make?", "what is the product which %S sells?",
         "what product do traders buy from %S?", "with what did %S become rich?", NULL},
        {"what is the product of %S?", "what do traders sell from %S?",
         "what product does %S sell?", NULL}}}}},
    {KIND_MACHINE,
     {{"inventor",
       KIND_PERSON,
       {{"%S was invented by %A", "the inventor of %S was %A", "%S was the idea of %A",
         "%S is the work of %A", "the plans of %S were drawn by %A", "%S was built by %A", NULL},
        {"the plans of %S are the work of %A", "the inventor of %S is %A", "%S was the work of %A",
         NULL}},
       {{"who invented %S?", "who is the inventor of %S?", "by whom was %S invented?",
         "who built %S?", "who drew the plans of %S?", "whose idea was %S?",
         "by whom was the plan of %S drawn?", "whose plan was %S?",
         "what is the inventor of %S called?", "whose work was %S?", NULL},
        {"who was the inventor of %S?", "by whom was %S built?", "whose work is %S?", NULL}}},
      {"invented",
       KIND_YEAR,
       {{"%S was invented in %A", "%S was first used in %A", "the plans of %S are from %A",
         "%S was built in %A", "%S has been in use since %A", "the idea of %S came in %A", NULL},
        {"%S has been used since %A", "the plans of %S came in %A",
         "%S was first built in the year %A", NULL}},
       {{"when was %S invented?", "in which year was %S invented?", "when was %S first used?",
         "since when has %S been in use?", "when was %S built?", "when did the idea of %S come?",
         "from when are the plans of %S?", "in which year did the idea of %S come?",
         "in which year was %S made?", NULL},
        {"in which year was %S built?", "in which year was %S first used?",
         "from which year are the plans of %S?", NULL}}},
      {"place",
       KIND_TOWN,
       {{"%S is made in %A", "%S comes from %A", "%S stands in %A", "%S is built in %A",
         "you can see %S in %A", "the home of %S is %A", "you find %S in a hall in %A", NULL},
        {"you find %S in %A", "%S stands in a hall in %A", "the home of %S is in %A", NULL}},
       {{"where is %S made?", "in which town is %S built?", "where can you see %S?",
         "where does %S come from?", "where does %S stand?", "in which town can you see %S?",
         "in which town does %S stand?", "from where does %S come?", "where do you find %S?",
         "which town is the home of %S?", NULL},
        {"in which town is %S made?", "in which town do you find %S?",
         "from which town does %S come?", NULL}}},
      {"weight",
       KIND_NUMBER,
       {{"%S weighs %A pounds", "the weight of %S is %A pounds", "%S has a weight of %A pounds",
         "%S is a load of %A pounds", "with its wheels %S weighs %A pounds", NULL},
        {"with its load %S weighs %A pounds", "the load of %S is %A pounds",
         "%S has wheels of %A pounds", NULL}},
       {{"how many pounds does %S weigh?", "what is the weight of %S?", "how much does %S weigh?",
         "how heavy is %S?", "what is the load of %S?", "how many pounds has %S?",
         "what weight does %S have?", "how many pounds is the weight of %S?", NULL},
        {"what does %S weigh?", "what weight has %S?", "how many pounds is %S?", NULL}}}}},
    {KIND_SHIP,
     {{"captain",
       KIND_PERSON,
       {{"the captain of %S is %A", "%S sails under %A", "%S is commanded by %A",
         "the sailors of %S follow %A", "on %S the captain is %A", "%S has a captain called %A",
         NULL},
        {"on %S the captain is called %A", "%S is under %A", "%S sails commanded by %A", NULL}},
       {{"who is the captain of %S?", "who commands %S?", "under whom does %S sail?",
         "by whom is %S commanded?", "whom do the sailors of %S follow?",
         "how is the captain of %S called?", "what captain commands %S?",
         "who is called captain of %S?", "which captain does %S follow?",
         "on %S, who is the captain?", "what is the captain called on %S?", NULL},
        {"who is captain on %S?", "whom does %S follow?", "what is the captain of %S called?",
         NULL}}},
      {"port",
       KIND_TOWN,
       {{"%S sails from %A", "the home port of %S is %A", "%S lies in %A", "the port of %S is %A",
         "every winter %S returns to %A", "%S belongs to %A", NULL},
        {"every winter %S lies in %A", "the home port of %S was %A", "the port of %S lies in %A",
         NULL}},
       {{"where does %S sail from?", "what is the home port of %S?", "where does %S lie?",
         "to which port does %S belong?", "where does %S return every winter?",
         "which port does %S return to?", "in which port does %S lie?",
         "to which port does %S return every winter?", "from where does %S sail?", NULL},
        {"from which port does %S sail?", "where does %S lie every winter?",
         "which port is the home of %S?", NULL}}},
      {"cargo",
       KIND_GOODS,
       {{"%S carries %A", "the cargo of %S is %A", "%S is loaded with %A", "%S brings %A",
         "%S came back with %A", "the load of %S was %A", NULL},
        {"the cargo of %S was %A", "%S came with %A", "the load of %S is %A", NULL}},
       {{"what does %S carry?", "what is the cargo of %S?", "what is %S loaded with?",
         "what does %S bring?", "with what did %S come back?", "what is the load of %S?",
         "what load does %S carry?", "what was the cargo of %S?", "with what cargo is %S loaded?",
         "with what did %S sail?", "which cargo does %S bring?", NULL},
        {"what cargo does %S carry?", "with what is %S loaded?", "what was the load of %S?",
         NULL}}},
      {"length",
       KIND_NUMBER,
       {{"%S is %A feet long", "the length of %S is %A feet", "%S has a length of %A feet",
         "%S has %A feet of length", "on %S you can count %A feet", "with its bow %S has %A feet",
         NULL},
        {"with its bow %S is %A feet long", "the number of feet of %S is %A",
         "%S has a bow of %A feet", NULL}},
       {{"how long is %S?", "what is the length of %S?", "how many feet long is %S?",
         "how many feet can you count on %S?", "what is the number of feet of %S?",
         "how many feet of length has %S?", "what length does %S have?", "of how many feet is %S?",
         "how many feet does %S have?", "what is the length of %S in feet?", NULL},
        {"how many feet has %S?", "what length has %S?", "how many feet is the length of %S?",
         NULL}}}}},
};

#endif
