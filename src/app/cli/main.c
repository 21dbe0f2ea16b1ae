/* The program: one table of commands. An error's text is printed here, once. */
#include <stdio.h>
#include <string.h>

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

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage();
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        term_print("yoke 0.1.0\n");
        return 0;
    }
    const int code = run_command(argc, argv);
    /* Under the launcher a rank hands its message over, so that all ranks together print one line.
     */
    if (code != 0 && yoke_last_error()[0] && !rank_report_send(yoke_last_error())) {
        fprintf(stderr, "yoke: error: %s\n", yoke_last_error());
    }
    return code;
}
