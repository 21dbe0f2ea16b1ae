/* `yoke launch -n N [options] JOB args`: the same program once a rank.
 *
 * `-n` and `-np` are the spellings of mpirun, --num_processes is accelerate's. Options of the
 * launcher stand before the job's name, all that follows it belongs to the job. */
#include <string.h>
#include <unistd.h>

#include "app/cli/commands.h"
#include "app/launch/launch.h"
#include "base/core/memory.h"
#include "base/options/option.h"
#include "base/term/terminal.h"

struct launch_options {
    int64_t n_ranks;
    int64_t port;
    bool label;
    bool bind;
    bool help;
};

static const struct option_def launch_defs[] = {
    {"num_processes", "np,n", OPTION_INT, "1", "1..1024", NULL, "Ranks",
     "Ranks to start; -n N and -np N are short for it.", offsetof(struct launch_options, n_ranks)},
    {"bind", NULL, OPTION_BOOL, "true", NULL, NULL, "Ranks",
     "Gives each rank its own share of this host's cores.", offsetof(struct launch_options, bind)},
    {"main_process_port", "master_port", OPTION_INT, "0", "0..65535", NULL, "Ranks",
     "MASTER_PORT of the ranks; 0 takes a free one.", offsetof(struct launch_options, port)},
    {"label", "tee", OPTION_BOOL, "false", NULL, NULL, "Output",
     "Writes \"[rank 1] \" before every line of a rank.", offsetof(struct launch_options, label)},
    {"help", NULL, OPTION_BOOL, "false", NULL, NULL, "Output", "Prints this page.",
     offsetof(struct launch_options, help)},
};

static const char *const jobs[] = {"qa", NULL}; /* commands that know of ranks */

static bool is_short_n(const char *word)
{
    return strcmp(word, "-n") == 0 || strcmp(word, "-np") == 0;
}

/* Reads the launcher's options; *job_out is the index of the job's name, argc when there is none.
 */
static yoke_status parse_options(struct option_set *set, int argc, char **argv, int *job_out)
{
    int at = 0;
    for (;;) {
        int used = 0;
        YOKE_TRY(option_set_parse(set, argc - at, argv + at, &used));
        at += used;
        if (at < argc && is_short_n(argv[at])) {
            const char *value = at + 1 < argc ? argv[at + 1] : NULL;
            YOKE_TRY(option_set_value(set, "num_processes", value, OPTION_FROM_FLAG));
            at += 2;
        } else if (at < argc && strcmp(argv[at], "-h") == 0) {
            YOKE_TRY(option_set_value(set, "help", NULL, OPTION_FROM_FLAG));
            at++;
        } else {
            break;
        }
    }
    *job_out = at;
    return YOKE_OK;
}

static yoke_status check_job(int argc, char **argv, int job)
{
    if (job >= argc) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "launch needs a job: yoke launch -n 2 qa --help, for example");
    }
    for (int i = 0; jobs[i]; i++) {
        if (strcmp(jobs[i], argv[job]) == 0) {
            return YOKE_OK;
        }
    }
    if (argv[job][0] == '-') {
        return yoke_fail(YOKE_ERR_INVALID, "unknown option '%s'; yoke launch --help lists them",
                         argv[job]);
    }
    return option_fail_unknown("job", argv[job], jobs);
}

static yoke_status launch_job(const struct launch_options *options, int n_words, char **words,
                              int *exit_code_out)
{
    char program[4096];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n < 0) {
        return yoke_fail(YOKE_ERR_IO, "cannot find this program's own file: %m");
    }
    program[n] = '\0';
    char **argv;
    YOKE_TRY(MEM_NEW(argv, (size_t)n_words + 2));
    argv[0] = program;
    memcpy(argv + 1, words, (size_t)n_words * sizeof *argv);
    const bool one_page = command_asks_for_help(n_words - 1, words + 1);
    const struct launch_job job = {
        .program = program,
        .argv = argv,
        .n_ranks = one_page ? 1 : (int)options->n_ranks,
        .port = (int)options->port,
        .label = options->label,
        .bind = options->bind,
    };
    const yoke_status status = launch_run(&job, exit_code_out);
    mem_free(argv);
    return status;
}

int cmd_launch(int argc, char **argv)
{
    struct launch_options options;
    const struct option_table table = {launch_defs, sizeof launch_defs / sizeof *launch_defs,
                                       &options};
    struct option_set set;
    int exit_code = 0;
    int job = 0;
    yoke_status status = option_set_init(&set, &table, 1);
    if (status < 0) {
        return yoke_status_exit_code(status);
    }
    YOKE_TRY_GOTO(parse_options(&set, argc, argv, &job));
    if (options.help) {
        term_print("yoke launch -n N [options] JOB [arguments of the job]\n\n"
                   "Starts N ranks of a job on this host. Jobs: qa.\n\n");
        option_set_help(&set);
        goto done;
    }
    YOKE_TRY_GOTO(check_job(argc, argv, job));
    YOKE_TRY_GOTO(launch_job(&options, argc - job, argv + job, &exit_code));
done:
    option_set_fini(&set);
    return status < 0 ? yoke_status_exit_code(status) : exit_code;
}
