/* The program: one table of commands. */
#include <string.h>

#include "base/core/status.h"
#include "base/term/terminal.h"

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        term_print("yoke 0.1.0\n");
        return 0;
    }
    return yoke_status_exit_code(YOKE_ERR_INVALID);
}
