/* `yoke qa --answer`: one question, one text, one answer. */
#ifndef APP_CLI_QA_ASK_H
#define APP_CLI_QA_ASK_H

#include "app/cli/qa_session.h"

/* Appends the context with the bytes [begin, end) marked: in colour, or between « and ». */
yoke_status qa_ask_mark(const char *context, size_t begin, size_t end, bool colour,
                        struct str *text) YOKE_MUST_USE;

/* Answers the command's question and prints context, answer and probability on standard output. */
yoke_status qa_ask(struct qa_session *session) YOKE_MUST_USE;

#endif
