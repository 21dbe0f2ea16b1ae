/*
 * generate_facts: writes paragraphs of invented facts with questions, in SQuAD v1.1 form.
 *
 *     generate_facts --split train|heldout --paragraphs N --seed S --output FILE
 *                    [--questions N] [--blank-questions]
 *     generate_facts --split train|heldout --paragraphs N --seed S --list names|answers|patterns
 *
 * One paragraph: a theme (persons, towns, companies, machines, ships) is drawn, then three
 * subjects of it and two of its four relations. Each subject gets one sentence per relation, the
 * sentences are shuffled, and questions ask for some of these facts. So each kind of answer occurs
 * three times in the paragraph, and only the name in the question says which one is meant.
 *
 * Both splits draw from the same syllables and words, but
 *   1. a hash of each joined name, number or pair of words gives it to exactly one split;
 *   2. statements, questions, openings and tails come from two disjoint lists (fact_tables.h).
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

enum { MAX_TEXT = 4096, MAX_NAME = 64, N_SUBJECTS = 3, N_RELATIONS = 2,
       N_FACTS = N_SUBJECTS * N_RELATIONS };

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum split { SPLIT_TRAIN, SPLIT_HELDOUT };
enum listing { LIST_NOTHING, LIST_NAMES, LIST_ANSWERS, LIST_PATTERNS };

struct arguments {
    enum split split;
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
    enum listing list;
};

struct fact {
    const struct relation *relation;
    const char *subject;
    char answer[MAX_NAME];
    int answer_start;
    char question[256];
};

struct paragraph {
    char subjects[N_SUBJECTS][MAX_NAME];
    struct fact facts[N_FACTS];
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

static void make_name(struct source *source, enum kind kind, char out[MAX_NAME])
{
    char word[MAX_NAME];
    char second[MAX_NAME];
    switch (kind) {
    case KIND_PERSON:
        PICK_JOINED(source, word, first_syllables, "", last_syllables);
        PICK_JOINED(source, second, first_syllables, "", last_syllables);
        capitalise(word);
        capitalise(second);
        snprintf(out, MAX_NAME, "%.30s %.30s", word, second);
        break;
    case KIND_TOWN:
        PICK_JOINED(source, out, first_syllables, "", town_endings);
        capitalise(out);
        break;
    case KIND_COMPANY:
        PICK_JOINED(source, word, first_syllables, "", made_endings);
        capitalise(word);
        snprintf(out, MAX_NAME, "%.40s %s", word, PICK_WORD(source, company_words));
        break;
    case KIND_MACHINE:
        PICK_JOINED(source, word, first_syllables, "", made_endings);
        capitalise(word);
        snprintf(out, MAX_NAME, "the %.40s %s", word, PICK_WORD(source, machine_words));
        break;
    case KIND_SHIP:
        PICK_JOINED(source, word, first_syllables, "", last_syllables);
        capitalise(word);
        snprintf(out, MAX_NAME, "the %.40s", word);
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
    }
}

/* ------------------------------------------------------------------------------- sentences */

/* Copies the pattern to out with %S and %A replaced; returns the offset of %A, or -1. */
static int fill_pattern(char *out, size_t size, const char *pattern, const char *subject,
                        const char *answer)
{
    int answer_at = -1;
    size_t n = 0;
    while (*pattern != '\0' && n + MAX_NAME < size) {
        if (pattern[0] == '%') {
            const char *const word = pattern[1] == 'A' ? answer : subject;
            if (pattern[1] == 'A') {
                answer_at = (int)n;
            }
            n += (size_t)snprintf(out + n, size - n, "%s", word);
            pattern += 2;
        } else {
            out[n++] = *pattern++;
        }
    }
    out[n] = '\0';
    return answer_at;
}

static void add_sentence(struct source *source, struct paragraph *paragraph, struct fact *fact)
{
    const int decoration = pick(source, 4);
    const char *opening = "";
    const char *tail = "";
    if (decoration == 0) {
        opening = pick_pattern(source, openings[source->split]);
    } else if (decoration == 1) {
        tail = pick_pattern(source, tails[source->split]);
    }
    char clause[512];
    const char *const pattern = pick_pattern(source, fact->relation->statements[source->split]);
    const int at = fill_pattern(clause, sizeof(clause), pattern, fact->subject, fact->answer);

    char *const sentence = paragraph->text + paragraph->length;
    const size_t room = sizeof(paragraph->text) - (size_t)paragraph->length;
    const char *const gap = paragraph->length > 0 ? " " : "";
    const int n = snprintf(sentence, room, "%s%s%s%s.", gap, opening, clause, tail);
    capitalise(sentence + strlen(gap));
    fact->answer_start = paragraph->length + (int)(strlen(gap) + strlen(opening)) + at;
    memcpy(fact->answer, paragraph->text + fact->answer_start, strlen(fact->answer));
    paragraph->length += n;
}

static void add_question(struct source *source, struct fact *fact)
{
    const char *const pattern = pick_pattern(source, fact->relation->questions[source->split]);
    fill_pattern(fact->question, sizeof(fact->question), pattern, fact->subject, "");
    capitalise(fact->question);
}

static bool is_taken(const struct paragraph *paragraph, int n_facts, const char *answer)
{
    for (int i = 0; i < n_facts; i++) {
        if (strcmp(paragraph->facts[i].answer, answer) == 0) {
            return true;
        }
    }
    return false;
}

static void pick_subjects(struct source *source, struct paragraph *paragraph, enum kind kind)
{
    for (int i = 0; i < N_SUBJECTS; i++) {
        bool again = true;
        while (again) {
            make_name(source, kind, paragraph->subjects[i]);
            again = false;
            for (int j = 0; j < i; j++) {
                again = again || strcmp(paragraph->subjects[i], paragraph->subjects[j]) == 0;
            }
        }
        if (source->list == LIST_NAMES) {
            puts(paragraph->subjects[i]);
        }
    }
}

static void pick_facts(struct source *source, struct paragraph *paragraph)
{
    const struct theme *const theme = &themes[pick(source, COUNT(themes))];
    pick_subjects(source, paragraph, theme->subject);

    const int first = pick(source, MAX_RELATIONS);
    const int second = (first + 1 + pick(source, MAX_RELATIONS - 1)) % MAX_RELATIONS;
    for (int i = 0; i < N_FACTS; i++) {
        struct fact *const fact = &paragraph->facts[i];
        fact->relation = &theme->relations[i < N_SUBJECTS ? first : second];
        fact->subject = paragraph->subjects[i % N_SUBJECTS];
        do {
            make_name(source, fact->relation->answer, fact->answer);
        } while (is_taken(paragraph, i, fact->answer));
        if (source->list == LIST_ANSWERS) {
            puts(fact->answer);
        }
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

static void make_paragraph(struct source *source, struct paragraph *paragraph)
{
    memset(paragraph, 0, sizeof(*paragraph));
    pick_facts(source, paragraph);
    shuffle_facts(source, paragraph->facts, N_FACTS);
    for (int i = 0; i < N_FACTS; i++) {
        add_sentence(source, paragraph, &paragraph->facts[i]);
    }
    shuffle_facts(source, paragraph->facts, N_FACTS);
    for (int i = 0; i < N_FACTS; i++) {
        add_question(source, &paragraph->facts[i]);
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
    for (long i = 0; i < arguments->questions; i++) {
        const struct fact *const fact = &paragraph->facts[i];
        fprintf(file,
                "%s\n    {\"id\": \"%s-%ld-%ld\", \"question\": \"%s\",\n"
                "     \"answers\": [{\"answer_start\": %d, \"text\": \"%s\"}]}",
                i > 0 ? "," : "", split, index, i,
                arguments->blank_questions ? "?" : fact->question, fact->answer_start,
                fact->answer);
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
        fprintf(file, "{\"version\": \"1.1\",\n \"data\": [{\"title\": \"facts\", \"paragraphs\": [");
    }
    /* The split is part of the seed, so that equal seeds give unrelated splits. */
    struct source source = {arguments->seed * 2 + (uint64_t)arguments->split, arguments->split,
                            arguments->list};
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
            "                      [--questions 1..%d] [--blank-questions]\n",
            what, N_FACTS);
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
    static const char *const flags[] = {"--split", "--paragraphs", "--seed", "--output", "--list",
                                        "--questions", NULL};
    static const char *const splits[] = {"train", "heldout", NULL};
    static const char *const listings[] = {"nothing", "names", "answers", "patterns", NULL};
    struct arguments arguments = {.questions = 2};
    long split = -1;
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
        case 0: split = find_choice(value, splits); break;
        case 1: arguments.paragraphs = parse_number(value, 1, 10000000); break;
        case 2: seed = parse_number(value, 0, 1000000000); break;
        case 3: arguments.output = value; break;
        case 4: list = find_choice(value, listings); break;
        default: arguments.questions = parse_number(value, 1, N_FACTS); break;
        }
    }
    if (split < 0 || list < 0 || seed < 0 || arguments.paragraphs < 1 || arguments.questions < 1) {
        return explain("a value is missing or out of its range");
    }
    if ((list == LIST_NOTHING) == (arguments.output == NULL)) {
        return explain("give either --output or --list");
    }
    arguments.split = (enum split)split;
    arguments.list = (enum listing)list;
    arguments.seed = (uint64_t)seed;
    return generate(&arguments);
}
