/* The commands of the program: one table, one function a command.
 *
 * A command gets the words behind its name: argv[0] is the first of them, not the name. It returns
 * the exit code of the program and has printed what is to be said but for errors: those it leaves
 * in yoke_last_error(), and returns the status's exit code, for main prints the message once. */
#ifndef APP_CLI_COMMANDS_H
#define APP_CLI_COMMANDS_H

#include "base/core/status.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *doc; /* one sentence for `yoke --help` */
};

int cmd_launch(int argc, char **argv);
int cmd_qa(int argc, char **argv);

#endif
