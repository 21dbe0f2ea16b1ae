/* The commands of the program: one table, one function a command.
 *
 * A command gets the words behind its name: argv[0] is the first of them, not the name. It returns
 * the exit code of the program and has printed what is to be said but for errors: those it leaves
 * in yoke_last_error(), and returns the status's exit code, for main prints the message once. */
#ifndef APP_CLI_COMMANDS_H
#define APP_CLI_COMMANDS_H

#include <stdbool.h>
#include <string.h>

#include "base/core/status.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *doc; /* one sentence for `yoke --help` */
};

/* Whether a job's words ask for its help page; a job without a word needs it. */
static inline bool command_asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return true;
        }
    }
    return argc == 0;
}

int cmd_launch(int argc, char **argv);
int cmd_qa(int argc, char **argv);

#endif
