/*
 * generate_facts: writes paragraphs of invented facts with questions, in SQuAD v1.1 form.
 *
 *     generate_facts --split train|heldout --paragraphs N --seed S --output FILE
 *                    [--lesson facts|pairs|names] [--questions N] [--blank-questions]
 *     generate_facts --split train|heldout --paragraphs N --seed S --list names|answers|patterns
 *
 * One paragraph: a theme (persons, towns, companies, machines, ships) is drawn, then three
 * subjects of it and two of its four relations. Each subject gets one sentence per relation, the
 * sentences are shuffled, and questions ask for some of these facts. So each kind of answer occurs
 * three times in the paragraph, and only the name in the question says which one is meant.
 *
 * --lesson is for the training split: "names" are lists in which a name is to be found, "pairs" are
 * bare facts, "facts" are paragraphs as above; each lesson mixes in some of those before it.
 *
 * Both splits draw from the same syllables and words, but
 *   1. a hash of each joined name, number or pair of words gives it to exactly one split;
 *   2. statements and questions come from two disjoint lists (fact_tables.h).
 * So nothing that is asked for in the held-out split, and no sentence of it, occurs in training.
 *
 * The same arguments give the same bytes on every machine: the random numbers are splitmix64
 * (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators"), reduced by
 * multiplication. All text is ASCII, so a byte offset is the offset in code points that SQuAD
 * wants. --list prints, one per line, everything that one split has used, for a test to compare.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fact_tables.h"

enum {
    MAX_TEXT = 4096,
    MAX_CLAUSE = 512,
    MAX_NAME = 64,
    N_SUBJECTS = 3,
    MAX_FACTS = 2 * N_SUBJECTS,
    SINGLE_SHARE = 50,   /* percent of the training paragraphs that have one relation */
    SYLLABLE_LETTERS = 3 /* that tell the first syllables apart */
};

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum split { SPLIT_TRAIN, SPLIT_HELDOUT };
enum lesson { LESSON_FACTS, LESSON_PAIRS, LESSON_NAMES, N_LESSONS };
enum listing { LIST_NOTHING, LIST_NAMES, LIST_ANSWERS, LIST_PATTERNS };

struct arguments {
    enum split split;
    enum lesson lesson;
    enum listing list;
    long paragraphs;
    long questions;
    uint64_t seed;
    bool blank_questions;
    const char *output;
};

/* The random state and the settings which every choice depends on. */
struct source {
    uint64_t state;
    enum split split;
    enum lesson lesson;
    enum listing list;
};

struct fact {
    const struct relation *relation;
    const char *subject;
    char answer[MAX_NAME];
    int answer_start;
    int subject_start;
};

struct question {
    char text[MAX_CLAUSE];
    char answer[MAX_NAME];
    int answer_start;
};

struct paragraph {
    char subjects[N_SUBJECTS][MAX_NAME];
    struct fact facts[MAX_FACTS];
    int n_facts;
    struct question questions[MAX_FACTS];
    char text[MAX_TEXT];
    int length;
};

/* ------------------------------------------------------------------------- random choices */

static uint64_t next_random(struct source *source)
{
    source->state += 0x9e3779b97f4a7c15u;
    uint64_t z = source->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* An integer in [0, n); the bias of the reduction is below n / 2^32. */
static int pick(struct source *source, int n)
{
    return (int)(((next_random(source) >> 32) * (uint64_t)n) >> 32);
}

static const char *pick_pattern(struct source *source, const char *const list[MAX_PATTERNS])
{
    int n = 0;
    while (n < MAX_PATTERNS && list[n] != NULL) {
        n++;
    }
    const char *const pattern = list[pick(source, n)];
    if (source->list == LIST_PATTERNS) {
        puts(pattern);
    }
    return pattern;
}

/* FNV-1a, lower-cased as the model sees the text. A quarter of all words is held out. */
static enum split split_of(const char *word)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *word != '\0'; word++) {
        hash = (hash ^ (uint64_t)(unsigned char)*word) * 0x100000001b3u;
    }
    return (hash >> 40) % 4 == 0 ? SPLIT_HELDOUT : SPLIT_TRAIN;
}

/* ------------------------------------------------------------------- names and other answers */

#define PICK_WORD(source, list) ((list)[pick((source), COUNT(list))])

/* Joins two parts until the result belongs to the split. */
#define PICK_JOINED(source, out, first_list, between, last_list)                                   \
    do {                                                                                           \
        snprintf((out), MAX_NAME, "%s%s%s", PICK_WORD(source, first_list), (between),              \
                 PICK_WORD(source, last_list));                                                    \
    } while (split_of(out) != (source)->split)

static void capitalise(char *word)
{
    if (*word >= 'a' && *word <= 'z') {
        *word = (char)(*word - 'a' + 'A');
    }
}

static void pick_number(struct source *source, int low, int high, char out[MAX_NAME])
{
    do {
        snprintf(out, MAX_NAME, "%d", low + pick(source, high - low));
    } while (split_of(out) != source->split);
}

/* The word of a subject; it belongs to the split. */
static void make_subject(struct source *source, enum kind kind, char out[MAX_NAME])
{
    if (kind == KIND_TOWN) {
        PICK_JOINED(source, out, first_syllables, "", town_endings);
    } else if (kind == KIND_PERSON || kind == KIND_SHIP) {
        PICK_JOINED(source, out, first_syllables, "", last_syllables);
    } else {
        PICK_JOINED(source, out, first_syllables, "", made_endings);
    }
    capitalise(out);
}

static void make_answer(struct source *source, enum kind kind, char out[MAX_NAME])
{
    switch (kind) {
    case KIND_PERSON:
        PICK_JOINED(source, out, person_syllables, "", last_syllables);
        capitalise(out);
        break;
    case KIND_YEAR:
        pick_number(source, 1500, 2000, out);
        break;
    case KIND_NUMBER:
        pick_number(source, 100, 1000, out);
        break;
    case KIND_JOB:
        PICK_JOINED(source, out, job_first, " ", job_second);
        break;
    case KIND_GOODS:
        PICK_JOINED(source, out, goods_first, " ", goods_second);
        break;
    default:
        PICK_JOINED(source, out, town_syllables, "", town_endings);
        capitalise(out);
        break;
    }
}

/* ------------------------------------------------------------------------------- sentences */

/* Where the subject and the answer came to stand in a filled pattern. */
struct places {
    int subject;
    int answer;
};

/* Copies the pattern to out with %S and %A replaced. */
static struct places fill_pattern(char out[MAX_CLAUSE], const char *pattern, const char *subject,
                                  const char *answer)
{
    struct places places = {0, 0};
    size_t n = 0;
    while (*pattern != '\0' && n + MAX_NAME < MAX_CLAUSE) {
        if (*pattern != '%') {
            out[n++] = *pattern++;
            continue;
        }
        const bool is_answer = pattern[1] == 'A';
        *(is_answer ? &places.answer : &places.subject) = (int)n;
        n += (size_t)snprintf(out + n, MAX_CLAUSE - n, "%s", is_answer ? answer : subject);
        pattern += 2;
    }
    out[n] = '\0';
    return places;
}

static void add_sentence(struct paragraph *paragraph, struct fact *fact, const char *pattern)
{
    char clause[MAX_CLAUSE];
    const struct places places = fill_pattern(clause, pattern, fact->subject, fact->answer);

    const size_t room = sizeof(paragraph->text) - (size_t)paragraph->length;
    char *const sentence = paragraph->text + paragraph->length;
    const char *const gap = paragraph->length > 0 ? " " : "";
    const int n = snprintf(sentence, room, "%s%s.", gap, clause);
    capitalise(sentence + strlen(gap));
    const int clause_start = paragraph->length + (int)(strlen(gap));
    fact->answer_start = clause_start + places.answer;
    fact->subject_start = clause_start + places.subject;
    paragraph->length += n;
}

/* The answer is copied from the text, where it may have become the capital of a sentence. */
static void set_question(struct question *question, const struct paragraph *paragraph,
                         const char *pattern, const char *subject, int start, size_t length)
{
    fill_pattern(question->text, pattern, subject, "");
    capitalise(question->text);
    question->answer_start = start;
    snprintf(question->answer, MAX_NAME, "%.*s", (int)length, paragraph->text + start);
}

static void ask_fact(struct paragraph *paragraph, const struct fact *fact, const char *pattern,
                     struct question *question)
{
    set_question(question, paragraph, pattern, fact->subject, fact->answer_start,
                 strlen(fact->answer));
}

static void ask_name(struct source *source, struct paragraph *paragraph, const struct fact *fact,
                     struct question *question)
{
    const char *const pattern = pick_pattern(source, name_questions);
    set_question(question, paragraph, pattern, fact->subject, fact->subject_start,
                 strlen(fact->subject));
}

/* ------------------------------------------------------------------------------ paragraphs */

static void pick_subjects(struct source *source, struct paragraph *paragraph, enum kind kind)
{
    for (int i = 0; i < N_SUBJECTS; i++) {
        bool taken = true;
        while (taken) {
            make_subject(source, kind, paragraph->subjects[i]);
            taken = false;
            for (int j = 0; j < i; j++) {
                taken = taken || strncmp(paragraph->subjects[i], paragraph->subjects[j],
                                         SYLLABLE_LETTERS) == 0;
            }
        }
        if (source->list == LIST_NAMES) {
            puts(paragraph->subjects[i]);
        }
    }
}

static bool is_answer_taken(const struct paragraph *paragraph, const char *answer)
{
    for (int i = 0; i < paragraph->n_facts; i++) {
        if (strcmp(paragraph->facts[i].answer, answer) == 0) {
            return true;
        }
    }
    return false;
}

/* Gives the same fact to each subject: three facts of one type. */
static void add_facts(struct source *source, struct paragraph *paragraph,
                      const struct relation *relation)
{
    for (int i = 0; i < N_SUBJECTS; i++) {
        struct fact *const fact = &paragraph->facts[paragraph->n_facts];
        fact->relation = relation;
        fact->subject = paragraph->subjects[i];
        do {
            make_answer(source, relation->answer, fact->answer);
        } while (is_answer_taken(paragraph, fact->answer));
        if (source->list == LIST_ANSWERS) {
            puts(fact->answer);
        }
        paragraph->n_facts++;
    }
}

static void shuffle_facts(struct source *source, struct fact *facts, int n)
{
    for (int i = n - 1; i > 0; i--) {
        const int j = pick(source, i + 1);
        const struct fact swap = facts[i];
        facts[i] = facts[j];
        facts[j] = swap;
    }
}

/* "Known are A, B and C." and the order to find one of them. */
static void make_list(struct source *source, struct paragraph *paragraph)
{
    static const char *const before[N_SUBJECTS] = {"", ", ", " and "};
    char *const text = paragraph->text;
    int n = snprintf(text, MAX_TEXT, "%s", pick_pattern(source, list_openings));
    capitalise(text);
    for (int i = 0; i < N_SUBJECTS; i++) {
        n += snprintf(text + n, (size_t)(MAX_TEXT - n), "%s", before[i]);
        paragraph->facts[i].subject = paragraph->subjects[i];
        paragraph->facts[i].subject_start = n;
        n += snprintf(text + n, (size_t)(MAX_TEXT - n), "%s", paragraph->subjects[i]);
    }
    snprintf(text + n, (size_t)(MAX_TEXT - n), ".");
    paragraph->n_facts = N_SUBJECTS;
    shuffle_facts(source, paragraph->facts, paragraph->n_facts);
    for (int i = 0; i < N_SUBJECTS; i++) {
        ask_name(source, paragraph, &paragraph->facts[i], &paragraph->questions[i]);
    }
}

/* Three bare facts of one kind. */
static void make_pairs(struct source *source, struct paragraph *paragraph,
                       const struct theme *theme)
{
    add_facts(source, paragraph, &theme->relations[pick(source, MAX_RELATIONS)]);
    for (int i = 0; i < paragraph->n_facts; i++) {
        add_sentence(paragraph, &paragraph->facts[i], pick_pattern(source, bare_statements));
    }
    shuffle_facts(source, paragraph->facts, paragraph->n_facts);
    for (int i = 0; i < paragraph->n_facts; i++) {
        ask_fact(paragraph, &paragraph->facts[i], pick_pattern(source, bare_questions),
                 &paragraph->questions[i]);
    }
}

/* Half of training has one relation, which is easier; the held-out split has two relations in every
 * paragraph, six facts. */
static void make_facts(struct source *source, struct paragraph *paragraph,
                       const struct theme *theme)
{
    const bool train = source->split == SPLIT_TRAIN;
    const int first = pick(source, MAX_RELATIONS);
    add_facts(source, paragraph, &theme->relations[first]);
    if (!train || pick(source, 100) >= SINGLE_SHARE) {
        const int second = (first + 1 + pick(source, MAX_RELATIONS - 1)) % MAX_RELATIONS;
        add_facts(source, paragraph, &theme->relations[second]);
    }
    shuffle_facts(source, paragraph->facts, paragraph->n_facts);
    for (int i = 0; i < paragraph->n_facts; i++) {
        struct fact *const fact = &paragraph->facts[i];
        add_sentence(paragraph, fact,
                     pick_pattern(source, fact->relation->statements[source->split]));
    }
    shuffle_facts(source, paragraph->facts, paragraph->n_facts);
    for (int i = 0; i < paragraph->n_facts; i++) {
        const struct fact *const fact = &paragraph->facts[i];
        ask_fact(paragraph, fact, pick_pattern(source, fact->relation->questions[source->split]),
                 &paragraph->questions[i]);
    }
}

/* Of a hundred paragraphs of a lesson, how many are lists and how many pairs; the rest are facts.
 * What an earlier lesson has taught would be unlearnt if it never came again. */
static const struct share {
    int lists;
    int pairs;
} shares[N_LESSONS] = {
    [LESSON_FACTS] = {5, 20}, [LESSON_PAIRS] = {40, 60}, [LESSON_NAMES] = {100, 0}};

static void make_paragraph(struct source *source, struct paragraph *paragraph)
{
    memset(paragraph, 0, sizeof(*paragraph));
    const struct theme *const theme = &themes[pick(source, COUNT(themes))];
    pick_subjects(source, paragraph, theme->subject);
    const struct share *const share = &shares[source->lesson];
    const int lot = source->split == SPLIT_TRAIN ? pick(source, 100) : 100;
    if (lot < share->lists) {
        make_list(source, paragraph);
    } else if (lot < share->lists + share->pairs) {
        make_pairs(source, paragraph, theme);
    } else {
        make_facts(source, paragraph, theme);
    }
}

/* ---------------------------------------------------------------------------------- output */

/* Nothing here needs escapes: no text of the tables has quotes, backslashes or control bytes. */
static void write_paragraph(FILE *file, const struct arguments *arguments, long index,
                            const struct paragraph *paragraph)
{
    const char *const split = arguments->split == SPLIT_TRAIN ? "train" : "heldout";
    fprintf(file, "%s\n  {\"context\": \"%s\",\n   \"qas\": [", index > 0 ? "," : "",
            paragraph->text);
    for (long i = 0; i < arguments->questions && i < paragraph->n_facts; i++) {
        const struct question *const question = &paragraph->questions[i];
        fprintf(file,
                "%s\n    {\"id\": \"%s-%ld-%ld\", \"question\": \"%s\",\n"
                "     \"answers\": [{\"answer_start\": %d, \"text\": \"%s\"}]}",
                i > 0 ? "," : "", split, index, i,
                arguments->blank_questions ? "?" : question->text, question->answer_start,
                question->answer);
    }
    fprintf(file, "]}");
}

static int generate(const struct arguments *arguments)
{
    FILE *file = NULL;
    if (arguments->output != NULL) {
        file = fopen(arguments->output, "w");
        if (file == NULL) {
            perror(arguments->output);
            return EXIT_FAILURE;
        }
        fprintf(file,
                "{\"version\": \"1.1\",\n \"data\": [{\"title\": \"facts\", \"paragraphs\": [");
    }
    /* The split is part of the seed, so that equal seeds give unrelated splits. */
    struct source source = {arguments->seed * 2 + (uint64_t)arguments->split, arguments->split,
                            arguments->lesson, arguments->list};
    static struct paragraph paragraph;
    for (long i = 0; i < arguments->paragraphs; i++) {
        make_paragraph(&source, &paragraph);
        if (file != NULL) {
            write_paragraph(file, arguments, i, &paragraph);
        }
    }
    if (file != NULL) {
        fprintf(file, "]}]}\n");
        const bool failed = ferror(file) != 0;
        if (fclose(file) != 0 || failed) {
            perror(arguments->output);
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}

/* ------------------------------------------------------------------------------- arguments */

static int explain(const char *what)
{
    fprintf(stderr,
            "generate_facts: %s\n"
            "usage: generate_facts --split train|heldout --paragraphs N --seed S\n"
            "                      --output FILE | --list names|answers|patterns\n"
            "                      [--lesson facts|pairs|names] [--questions 1..%d]\n"
            "                      [--blank-questions]\n",
            what, N_SUBJECTS);
    return 2;
}

/* The place of word in a NULL-terminated list of choices, or -1. */
static int find_choice(const char *word, const char *const choices[])
{
    for (int i = 0; choices[i] != NULL; i++) {
        if (strcmp(word, choices[i]) == 0) {
            return i;
        }
    }
    return -1;
}

/* A whole number in [low, high], or -1. */
static long parse_number(const char *text, long low, long high)
{
    char *end = NULL;
    const long value = strtol(text, &end, 10);
    return end == text || *end != '\0' || value < low || value > high ? -1 : value;
}

int main(int argc, char **argv)
{
    static const char *const flags[] = {"--split", "--paragraphs", "--seed",   "--output",
                                        "--list",  "--questions",  "--lesson", NULL};
    static const char *const lessons[] = {"facts", "pairs", "names", NULL};
    static const char *const splits[] = {"train", "heldout", NULL};
    static const char *const listings[] = {"nothing", "names", "answers", "patterns", NULL};
    struct arguments arguments = {.questions = 2};
    long split = -1;
    long lesson = LESSON_FACTS;
    long list = LIST_NOTHING;
    long seed = -1;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--blank-questions") == 0) {
            arguments.blank_questions = true;
            continue;
        }
        const int flag = find_choice(argv[i], flags);
        if (flag < 0 || i + 1 == argc) {
            return explain(flag < 0 ? "unknown flag" : "the last flag has no value");
        }
        const char *const value = argv[++i];
        switch (flag) {
        case 0:
            split = find_choice(value, splits);
            break;
        case 1:
            arguments.paragraphs = parse_number(value, 1, 10000000);
            break;
        case 2:
            seed = parse_number(value, 0, 1000000000);
            break;
        case 3:
            arguments.output = value;
            break;
        case 4:
            list = find_choice(value, listings);
            break;
        case 5:
            arguments.questions = parse_number(value, 1, N_SUBJECTS);
            break;
        default:
            lesson = find_choice(value, lessons);
            break;
        }
    }
    if (split < 0 || lesson < 0 || list < 0 || seed < 0 || arguments.paragraphs < 1 ||
        arguments.questions < 1) {
        return explain("a value is missing or out of its range");
    }
    if ((list == LIST_NOTHING) == (arguments.output == NULL)) {
        return explain("give either --output or --list");
    }
    arguments.split = (enum split)split;
    arguments.lesson = (enum lesson)lesson;
    arguments.list = (enum listing)list;
    arguments.seed = (uint64_t)seed;
    return generate(&arguments);
}
