/* log.h - says to people what happened, on stderr, and can neither block nor kill the caller.
 *
 * One event, one line, a sentence in the past tense. Formats: text (`endwell: phase http ended`), json (a line an
 * object with fields), journal (`<N>` prefix). What cannot be written at once is dropped and counted; the next line
 * that gets through says how many were lost. stderr is shared with the children, so its flags are never changed:
 * log_open() makes a description of its own (by /proc/self/fd), else splices without blocking into a pipe; on a socket
 * it sends without blocking. A regular file is written through descriptor 2 itself: it cannot block for a reader, and
 * only the shared offset keeps us and the children from writing over each other. The program ignores or blocks SIGPIPE:
 * a pipe that nobody reads then costs the line only. Keeps errno, allocates nothing. Source: splice(2), open(2). */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum LogLevel {
        LOG_LEVEL_ERR,
        LOG_LEVEL_WARNING,
        LOG_LEVEL_NOTICE,
        LOG_LEVEL_INFO,
        LOG_LEVEL_DEBUG,
        _LOG_LEVEL_MAX,
} LogLevel;

typedef enum LogFormat {
        LOG_FORMAT_AUTO, /* journal when stderr is one ($JOURNAL_STREAM), else text */
        LOG_FORMAT_TEXT,
        LOG_FORMAT_JSON,
        LOG_FORMAT_JOURNAL,
        _LOG_FORMAT_MAX,
} LogFormat;

/* -EINVAL when there is no such word. int, because the enums are unsigned to the compiler and never below zero. */
int log_level_from_string(const char *text);
int log_format_from_string(const char *text);
const char *log_level_to_string(LogLevel level);
const char *log_format_to_string(LogFormat format);

/* `program` stands before each text line. Never fails: without a usable stderr everything is dropped and counted. */
void log_open(const char *program, LogFormat format, LogLevel level);
void log_close(void);
void log_set(LogFormat format, LogLevel level);

/* At most 2 KiB a line, longer text is cut and marked. */
bool log_wants(LogLevel level); /* false: log_line() would say nothing, so spare yourself the words */
void log_line(LogLevel level, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define log_err(...)     log_line(LOG_LEVEL_ERR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...)  log_line(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...)    log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

uint64_t log_dropped(void); /* lines lost so far */
