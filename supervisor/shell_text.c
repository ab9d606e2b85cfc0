/* shell_text.c - a scanner for the words and operators of a shell, and what stood last; see shell_text.h. */
#include "supervisor/shell_text.h"
#include "base/take.h"
#include "supervisor/programs.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NESTING_MAX 32
#define WORD_MAX    128 /* of those that are looked at */

/* ---- Words and operators ---- */

typedef struct Scanner {
        const char *begin, *at, *end;
        bool broken; /* a quote or a bracket is not closed, or too many are */
} Scanner;

static void skip_parentheses(Scanner *scanner, unsigned nesting);

static void skip_single_quotes(Scanner *scanner) {
        const char *quote = memchr(scanner->at, '\'', (size_t)(scanner->end - scanner->at));
        scanner->broken |= !quote;
        scanner->at = quote ? quote + 1 : scanner->end;
}

static bool sees(const Scanner *scanner, const char *text) {
        size_t length = strlen(text);
        return (size_t)(scanner->end - scanner->at) >= length && memcmp(scanner->at, text, length) == 0;
}

/* Behind the opening one, up to and with the closing one. */
static void skip_until(Scanner *scanner, char closing, unsigned nesting) {
        while (scanner->at < scanner->end) {
                char c = *scanner->at;
                if (sees(scanner, "$(")) {
                        scanner->at += 2;
                        skip_parentheses(scanner, nesting + 1);
                        continue;
                }
                scanner->at++;
                if (c == closing)
                        return;
                if (c == '\\' && scanner->at < scanner->end)
                        scanner->at++;
        }
        scanner->broken = true;
}

static void skip_parentheses(Scanner *scanner, unsigned nesting) {
        unsigned open = 1;

        if (nesting > NESTING_MAX)
                scanner->broken = true;
        while (open > 0 && !scanner->broken && scanner->at < scanner->end) {
                char c = *scanner->at++;
                if (c == '\\' && scanner->at < scanner->end)
                        scanner->at++;
                else if (c == '\'')
                        skip_single_quotes(scanner);
                else if (c == '"' || c == '`')
                        skip_until(scanner, c, nesting + 1);
                else
                        open += (c == '(') - (c == ')');
        }
        scanner->broken |= open > 0;
}

/* Behind one piece of a word: a letter, a quoted part, an expansion. */
static void skip_piece(Scanner *scanner) {
        char c = *scanner->at++;

        if (c == '\\' && scanner->at < scanner->end) {
                scanner->at++;
        } else if (c == '\'') {
                skip_single_quotes(scanner);
        } else if (c == '"' || c == '`') {
                skip_until(scanner, c, 0);
        } else if (c == '$' && sees(scanner, "(")) {
                scanner->at++;
                skip_parentheses(scanner, 0);
        } else if (c == '$' && sees(scanner, "{")) {
                skip_until(scanner, '}', 0);
        }
}

static bool ends_word(char c) {
        return memchr(" \t\r\n;&|()<>", c, 11) != NULL;
}

static void skip_blanks(Scanner *scanner) {
        for (;;) {
                if (sees(scanner, "\\\n"))
                        scanner->at += 2;
                else if (scanner->at < scanner->end && memchr(" \t\r", *scanner->at, 3))
                        scanner->at++;
                else
                        break;
        }
        if (sees(scanner, "#"))
                while (scanner->at < scanner->end && *scanner->at != '\n')
                        scanner->at++;
}

typedef struct Token {
        const char *text;
        size_t length; /* 0: the end */
        bool is_word;
} Token;

/* The longest operator that stands here. */
static size_t operator_length(const Scanner *scanner) {
        static const char *const operators[] = { "<<", "&&", "||", ";;", ">>", ">&", "<&", ">|", "<>" };

        for (size_t i = 0; i < LENGTH_OF(operators); i++)
                if (sees(scanner, operators[i]))
                        return 2;
        return 1;
}

static Token next_token(Scanner *scanner) {
        skip_blanks(scanner);
        Token token = { .text = scanner->at };
        if (scanner->at == scanner->end)
                return token;
        if (ends_word(*scanner->at)) {
                token.length = operator_length(scanner);
                scanner->at += token.length;
                return token;
        }
        while (scanner->at < scanner->end && !ends_word(*scanner->at) && !scanner->broken)
                skip_piece(scanner);
        token.length = (size_t)(scanner->at - token.text);
        token.is_word = true;
        return token;
}

static bool token_is(const Token *token, const char *text) {
        return strlen(text) == token->length && memcmp(token->text, text, token->length) == 0;
}

static bool token_is_any(const Token *token, const char *const *list, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (token_is(token, list[i]))
                        return true;
        return false;
}

/* ---- Commands ---- */

typedef struct Command {
        Token first;
        const char *end;
        bool any; /* something stands in it */
        bool compound, piped, negated;
        bool background;
} Command;

typedef struct Reader {
        Scanner scanner;
        Command now, last;
        unsigned depth, cases;
        bool is_target;            /* the next word is of a redirection */
        bool is_name;              /* the next words are no commands: for NAME in … */
        bool traps, endless, lost; /* a trap; while true; what cannot be followed */
} Reader;

static void close_command(Reader *reader, bool background, bool pipe) {
        if (reader->now.any && reader->depth == 0 && reader->cases == 0) {
                reader->last = reader->now;
                reader->last.background = background;
        }
        reader->now = (Command){ .piped = pipe };
        reader->is_name = false;
}

/* A word in the place of a command that is none: true. */
static bool take_keyword(Reader *reader, const Token *word) {
        static const char *const opening[] = { "if", "while", "until", "for", "select", "{" };
        static const char *const between[] = { "then", "do", "else", "elif", "in" };
        static const char *const closing[] = { "fi", "done", "}" };

        if (token_is_any(word, opening, LENGTH_OF(opening))) {
                reader->depth++;
                reader->is_name = token_is(word, "for") || token_is(word, "select");
                reader->now.compound = true;
        } else if (token_is_any(word, closing, LENGTH_OF(closing))) {
                reader->lost |= reader->depth == 0;
                reader->depth -= reader->depth > 0;
                reader->now.compound = true;
        } else if (token_is(word, "case")) {
                reader->cases++;
                reader->now.compound = true;
        } else if (token_is(word, "!")) {
                reader->now.negated = true;
        } else if (!token_is_any(word, between, LENGTH_OF(between))) {
                return false;
        }
        return true;
}

static bool is_assignment(const Token *word) {
        size_t n = 0;
        while (n < word->length &&
               (word->text[n] == '_' || (word->text[n] >= '0' && word->text[n] <= '9') ||
                (word->text[n] >= 'a' && word->text[n] <= 'z') || (word->text[n] >= 'A' && word->text[n] <= 'Z')))
                n++;
        return n > 0 && n < word->length && word->text[n] == '=';
}

/* The condition of a loop that never ends: what stands behind it is not what the shell is for. */
static bool is_endless(const Reader *reader, const Token *word) {
        const char *before = word->text - 1;
        while (before > reader->scanner.begin && (*before == ' ' || *before == '\t'))
                before--;
        return (token_is(word, "true") || token_is(word, ":") || token_is(word, "sleep")) &&
               before - reader->scanner.begin >= 4 && memcmp(before - 4, "while", 5) == 0;
}

static void take_word(Reader *reader, const Token *word) {
        if (reader->is_target) {
                reader->is_target = false;
                reader->now.end = word->text + word->length;
                return;
        }
        if (reader->cases > 0) { /* patterns and their commands are passed over */
                reader->cases += token_is(word, "case");
                reader->cases -= token_is(word, "esac");
                return;
        }
        reader->now.any = true;
        if (!reader->now.first.length && !reader->is_name) {
                if (take_keyword(reader, word) || is_assignment(word))
                        return;
                reader->now.first = *word;
                reader->traps |= token_is(word, "trap");
                reader->endless |= is_endless(reader, word);
                reader->lost |= token_is(word, "function");
        }
        reader->now.end = word->text + word->length;
}

static void take_operator(Reader *reader, const Token *token) {
        char c = *token->text;

        if (token_is(token, "<<"))
                reader->lost = true;
        else if (c == '<' || c == '>')
                reader->is_target = true;
        else if (reader->cases > 0)
                return;
        else if (c == '(')
                reader->depth++, reader->now.any = reader->now.compound = true;
        else if (c == ')') {
                reader->lost |= reader->depth == 0;
                reader->depth -= reader->depth > 0;
                /* Behind it stands the body of a function, or nothing. */
                reader->now = (Command){ .any = true, .compound = true };
        } else
                close_command(reader, token_is(token, "&"), token_is(token, "|"));
}

/* 2>&1: the number belongs to the redirection. */
static bool is_number_of_redirection(const Reader *reader, const Token *word) {
        for (size_t i = 0; i < word->length; i++)
                if (word->text[i] < '0' || word->text[i] > '9')
                        return false;
        return reader->scanner.at < reader->scanner.end && memchr("<>", *reader->scanner.at, 2);
}

static void read_all(Reader *reader) {
        for (Token token; (token = next_token(&reader->scanner)).length > 0 && !reader->scanner.broken;) {
                if (!token.is_word)
                        take_operator(reader, &token);
                else if (!is_number_of_redirection(reader, &token))
                        take_word(reader, &token);
        }
        close_command(reader, false, false);
}

/* ---- The judgement ---- */

static bool is_arguments(const Token *word) {
        static const char *const arguments[] = { "\"$@\"", "\"${@}\"", "$@", "$*", "${@}", "\"$*\"" };
        return token_is_any(word, arguments, LENGTH_OF(arguments));
}

/* Letters that every program's name is made of, so that it is what it looks like. */
static bool is_plain(const Token *word) {
        for (size_t i = 0; i < word->length; i++)
                if (!memchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-", word->text[i], 67))
                        return false;
        return word->length > 0 && word->length < WORD_MAX;
}

/* `name()` somewhere in the text; or another file is read, in which it may stand. */
static bool may_be_function(const Scanner *scanner, const char *name) {
        size_t length = strlen(name);
        for (const char *at = scanner->begin; at + length < scanner->end; at++) {
                const char *behind = at + length;
                if (memcmp(at, name, length) != 0)
                        continue;
                while (behind < scanner->end && *behind == ' ')
                        behind++;
                if (behind < scanner->end && *behind == '(')
                        return true;
        }
        return false;
}

static ShellEnd judge_program(const Reader *reader, const Token *word) {
        char name[WORD_MAX];

        if (is_arguments(word))
                return SHELL_END_RUNS;
        if (!is_plain(word))
                return SHELL_END_UNSURE;
        snprintf(name, sizeof name, "%.*s", (int)word->length, word->text);
        if (program_is_brief(program_name(name)) || may_be_function(&reader->scanner, name))
                return SHELL_END_UNSURE;
        return SHELL_END_RUNS;
}

/* The word behind `exec` and its options. */
static Token skip_exec(const Token *exec, const char *end) {
        Scanner scanner = { .begin = exec->text, .at = exec->text + exec->length, .end = end };
        Token word = next_token(&scanner);

        while (word.is_word && word.text[0] == '-') {
                bool named = token_is(&word, "-a");
                word = next_token(&scanner);
                if (named)
                        word = next_token(&scanner);
        }
        return word;
}

ShellEnd shell_text_end(const char *text, size_t length, const char **ret_command, size_t *ret_length) {
        Reader reader = { .scanner = { .begin = text, .at = text, .end = text + length } };

        read_all(&reader);
        const Command *last = &reader.last;
        Token word = last->first;
        if (reader.scanner.broken || reader.lost || reader.depth > 0 || reader.cases > 0 || last->compound ||
            last->piped || last->negated || last->background || word.length == 0)
                return SHELL_END_UNSURE;
        ShellEnd answer = SHELL_END_EXEC;
        if (token_is(&word, "exec"))
                word = skip_exec(&word, last->end);
        else
                answer = reader.endless || reader.traps ? SHELL_END_UNSURE : judge_program(&reader, &word);
        if (!word.is_word || answer == SHELL_END_UNSURE)
                return SHELL_END_UNSURE;
        *ret_command = word.text;
        *ret_length = (size_t)(last->end - word.text);
        return answer;
}
