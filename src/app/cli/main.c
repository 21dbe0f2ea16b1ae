/* The program: one table of commands. An error's text is printed here, once. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/cli/commands.h"
#include "app/launch/rank_report.h"
#include "base/options/option.h"
#include "base/term/terminal.h"

static const struct command commands[] = {
    {"qa", cmd_qa, "Fine-tune, evaluate and ask a model that answers questions from a text."},
    {"launch", cmd_launch, "Start a command on several ranks of this host."},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_usage(void)
{
    term_print("yoke trains transformer models on many CPUs.\n\n  yoke COMMAND [options]\n\n");
    for (size_t i = 0; i < N_COMMANDS; i++) {
        term_print("  %-8s  %s\n", commands[i].name, commands[i].doc);
    }
    term_print("\n  yoke COMMAND --help lists the options of a command; yoke --version tells the "
               "version.\n");
}

static yoke_status fail_unknown(const char *name)
{
    const char *names[N_COMMANDS + 1] = {NULL};
    for (size_t i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i].name;
    }
    return option_fail_unknown("command", name, names);
}

static int run_command(int argc, char **argv)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return commands[i].run(argc - 2, argv + 2);
        }
    }
    return yoke_status_exit_code(fail_unknown(argv[1]));
}

/* A stream that the caller closed would give its number to the next file or socket opened, and
 * what is printed would end up in there. */
static void fill_closed_streams(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) {
        close(fd);
    }
}

/* Results that never arrived (a full disk behind `> file`) are no success. */
static int check_output(int code)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code != 0) {
        return code;
    }
    return yoke_status_exit_code(
        yoke_fail(YOKE_ERR_IO, "cannot write to standard output; what was printed is cut off"));
}

static int run_program(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage();
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        term_print("yoke " YOKE_VERSION "\n");
        return 0;
    }
    return run_command(argc, argv);
}

int main(int argc, char **argv)
{
    fill_closed_streams();
    const int code = check_output(run_program(argc, argv));
    /* Under the launcher a rank hands its message over, so that all ranks together print one line.
     */
    if (code != 0 && yoke_last_error()[0] && !rank_report_send(yoke_last_error())) {
        fprintf(stderr, "yoke: error: %s\n", yoke_last_error());
    }
    return code;
}
