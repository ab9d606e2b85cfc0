/* test_settings.c - whole files, read strictly: what is taken, and every kind of complaint. */
#include "base/settings.h"
#include "base/take.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static const SettingsKey supervisor_keys[] = { { "GraceSec", SETTINGS_KEY_SINGLE }, { "", SETTINGS_KEY_SINGLE } };
static const SettingsKey service_keys[] = {
        { "ExecStart", SETTINGS_KEY_SINGLE },     { "Restart", SETTINGS_KEY_SINGLE },
        { "Group", SETTINGS_KEY_SINGLE },         { "Environment", SETTINGS_KEY_LIST },
        { "ReadinessProbe", SETTINGS_KEY_LATER }, { "", SETTINGS_KEY_SINGLE },
};
static const SettingsKey no_keys[] = { { "", SETTINGS_KEY_SINGLE } };
static const SettingsKind kinds[] = {
        { "Supervisor", false, false, supervisor_keys },
        { "Service", true, false, service_keys },
        { "Gateway", false, false, no_keys },
        { "Database", false, true, no_keys },
        { 0 },
};

static const char *look_up(void *userdata, const char *name) {
        (void)userdata;
        return strcmp(name, "COLOUR") == 0 ? "blue" : strcmp(name, "LINES") == 0 ? "a\nb" : NULL;
}

/* A directory of its own for each test: conf.ini, and what else it writes. */
typedef struct Bench {
        char directory[64], path[128];
        Complaints *complaints;
        Settings *settings;
        int answer;
        char *printed;
} Bench;

static Bench bench;

static void set_up(void) {
        strcpy(bench.directory, "/tmp/endwell-test-settings-XXXXXX");
        cr_assert_not_null(mkdtemp(bench.directory));
        snprintf(bench.path, sizeof bench.path, "%s/conf.ini", bench.directory);
        cr_assert_eq(complaints_new(&bench.complaints), 0);
}

static void tear_down(void) {
        char command[128];
        snprintf(command, sizeof command, "rm -rf %s", bench.directory);
        cr_expect_eq(system(command), 0);
        bench.complaints = complaints_free(bench.complaints);
        bench.settings = settings_free(bench.settings);
        free(bench.printed);
}

TestSuite(settings, .init = set_up, .fini = tear_down);

static void write_bytes(const char *name, const char *text, size_t length) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", bench.directory, name);
        _cleanup_(closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        cr_assert_eq(write(fd, text, length), (ssize_t)length);
}

static void write_file(const char *name, const char *text) {
        write_bytes(name, text, strlen(text));
}

static void make_drop_in_directory(void) {
        char path[256];
        snprintf(path, sizeof path, "%s.d", bench.path);
        cr_assert_eq(mkdir(path, 0700), 0);
}

/* Reads it; what is printed loses the directory: "conf.ini:3: ...". */
static const char *read_settings(void) {
        char *text = NULL;
        size_t size;

        bench.answer = settings_read(bench.path, kinds, look_up, NULL, bench.complaints, &bench.settings);
        FILE *out = open_memstream(&text, &size);
        complaints_print(bench.complaints, out);
        fclose(out);
        bench.printed = calloc(1, size + 1);
        const char *from = text;
        size_t prefix = strlen(bench.directory) + 1;
        for (const char *at; (at = strstr(from, bench.directory)); from = at + prefix)
                strncat(bench.printed, from, (size_t)(at - from));
        strcat(bench.printed, from);
        free(text);
        return bench.printed;
}

static const SettingsSection *section(const char *kind, const char *name) {
        for (size_t i = 0; bench.settings && i < bench.settings->n_sections; i++)
                if (strcmp(bench.settings->sections[i].kind->name, kind) == 0 &&
                    strcmp(bench.settings->sections[i].name, name) == 0)
                        return &bench.settings->sections[i];
        cr_assert_fail("no section [%s %s]", kind, name);
        abort(); /* not reached; the compiler cannot know */
}

static const char *value(const char *key) {
        const Setting *setting = settings_get(section("Service", "web"), key);
        return setting ? setting->value : NULL;
}

static void expect_good(const char *text) {
        write_file("conf.ini", text);
        cr_assert_str_empty(read_settings());
        cr_assert_eq(bench.answer, 0);
}

static void expect_complaints(const char *text, const char *expected) {
        write_file("conf.ini", text);
        cr_assert_str_eq(read_settings(), expected);
        cr_assert_eq(bench.answer, 0);
        cr_assert_gt(complaints_count(bench.complaints), 0);
}

Test(settings, sections_and_values_are_read_with_their_places) {
        expect_good("# a comment\n; another\n\n[Supervisor]\nGraceSec = 30 \n \t\n[Service "
                    "web]\nExecStart=/bin/true\n[Gateway]\n");
        cr_assert_eq(bench.settings->n_sections, 3);
        cr_assert_eq(bench.settings->n_files, 1);
        const Setting *grace = settings_get(section("Supervisor", ""), "GraceSec");
        cr_assert_str_eq(grace->value, "30");
        cr_assert_eq(grace->line, 5);
        cr_assert_str_eq(grace->file, bench.path);
        cr_assert_eq(section("Service", "web")->line, 7);
        cr_assert_eq(section("Gateway", "")->n_items, 0, "an empty section is seen too");
        cr_assert_null(settings_get(section("Service", "web"), "Restart"));
}

Test(settings, inih_can_neither_cut_nor_split_a_value) {
        expect_good("[Service web]\nExecStart=sh -c \"a ; b\" # c: d = e\nEnvironment=A=1;2:3\n"
                    "[Service a-name-that-has-all-forty-letters-allowe]\nRestart=no\n");
        cr_assert_str_eq(value("ExecStart"), "sh -c \"a ; b\" # c: d = e");
        cr_assert_str_eq(value("Environment"), "A=1;2:3");
        cr_assert_eq(section("Service", "a-name-that-has-all-forty-letters-allowe")->n_items, 1);
}

Test(settings, a_bom_and_crlf_are_accepted) {
        expect_good(
                "\xEF\xBB\xBF[Service web]\r\nExecStart=/bin/sh -c \"true ; sleep 1000\"\r\nEnvironment=P=a;b#c\r\n");
        cr_assert_str_eq(value("ExecStart"), "/bin/sh -c \"true ; sleep 1000\"");
        cr_assert_str_eq(value("Environment"), "P=a;b#c");
}

Test(settings, a_value_may_be_64_kib_long_and_not_longer) {
        static const char head[] = "[Service web]\nExecStart=";
        static char text[sizeof head + 65536 + 16];

        strcpy(text, head);
        memset(text + sizeof head - 1, 'x', 65536);
        strcpy(text + sizeof head - 1 + 65536, "\nRestart=no\n");
        expect_good(text);
        cr_assert_eq(strlen(value("ExecStart")), 65536);
        cr_assert_str_eq(value("Restart"), "no");
}

Test(settings, a_value_over_64_kib_is_an_error_that_says_so) {
        static const char head[] = "[Service web]\nExecStart=";
        static char text[sizeof head + 65537 + 16];

        strcpy(text, head);
        memset(text + sizeof head - 1, 'x', 65537);
        strcpy(text + sizeof head - 1 + 65537, "\n");
        expect_complaints(text, "conf.ini:2: the value of ExecStart is longer than 64 KiB (it has 65537 bytes)\n");
}

Test(settings, a_backslash_continues_a_line_on_the_next_one) {
        expect_good("[Service web]\nExecStart=/bin/echo \\\n    one \\\r\n\ttwo\nRestart=\\\\\nGroup=a\\\n\n");
        cr_assert_str_eq(value("ExecStart"), "/bin/echo  one  two");
        cr_assert_str_eq(value("Restart"), "\\\\");
        cr_assert_str_eq(value("Group"), "a");
}

Test(settings, lines_are_counted_as_an_editor_counts_them) {
        expect_complaints("[Service web]\nExecStart=a \\\n b \\\n c\nGoup=x\r\nEnvironment=\\\n  A=${NOPE}\n",
                          "conf.ini:5: unknown key Goup in a section [Service], did you mean Group?\n"
                          "conf.ini:6: Environment: the variable NOPE is not set and has no default\n");
}

Test(settings, variables_are_expanded_once) {
        expect_good("[Service web]\nExecStart=${COLOUR} ${NOPE:-none} $${X}\nEnvironment=${LINES}\n");
        cr_assert_str_eq(value("ExecStart"), "blue none ${X}");
        cr_assert_str_eq(value("Environment"), "a\nb");
}

Test(settings, a_list_adds_up_and_a_single_value_does_not) {
        expect_good("[Service web]\nEnvironment=A=1\nEnvironment=B=2\n");
        const SettingsSection *web = section("Service", "web");
        cr_assert_eq(web->n_items, 2);
        cr_assert_str_eq(web->items[1].value, "B=2");
}

Test(settings, a_misspelt_key_names_the_nearest_one) {
        expect_complaints("[Service web]\nExecStrat=/bin/true\n",
                          "conf.ini:2: unknown key ExecStrat in a section [Service], did you mean ExecStart?\n");
}

Test(settings, what_is_wrong_with_a_line_is_said_with_its_number) {
        static const struct {
                const char *text, *expected;
        } cases[] = {
                { "[Servise web]\nX=1\n", "conf.ini:1: unknown section [Servise], did you mean [Service]?\n" },
                { "[Nonsense]\n", "conf.ini:1: unknown section [Nonsense]\n" },
                { "[Service web]\nexecstart=x\n",
                  "conf.ini:2: unknown key execstart in a section [Service], did you mean ExecStart?\n" },
                { "[Service web]\nFrobnicate=x\n", "conf.ini:2: unknown key Frobnicate in a section [Service]\n" },
                { "[Service web]\nRestart:no=x\n",
                  "conf.ini:2: unknown key Restart:no in a section [Service], did you mean Restart?\n" },
                { "[Service web]\nRestart=no\n\nRestart=no\n", "conf.ini:4: duplicate key Restart, first in line 2\n" },
                { "[Service web]\n[Service b]\n[Service web]\n",
                  "conf.ini:3: duplicate section [Service web], first in line 1\n" },
                { "[Gateway]\n[Gateway]\n", "conf.ini:2: duplicate section [Gateway], first in line 1\n" },
                { "GraceSec=30\n", "conf.ini:1: the key GraceSec stands before any section\n" },
                { "[Service web]\nExecStart /bin/true\n", "conf.ini:2: no \"=\" in the line: expected KEY=VALUE\n" },
                { "[Service web]\n=x\n", "conf.ini:2: no key before the \"=\"\n" },
                { "[Service web]\n  Restart=no\n",
                  "conf.ini:2: the line is indented, but the one before does not end in a backslash\n" },
                { "[Service web]\n # x\n",
                  "conf.ini:2: the line is indented, but the one before does not end in a backslash\n" },
                { "[Service web\nRestart=no\n", "conf.ini:1: the section is not closed by \"]\"\n" },
                { "[Service web] # x\n", "conf.ini:1: text after the \"]\" of a section\n" },
                { "[Service x]y]\n", "conf.ini:1: text after the \"]\" of a section\n" },
                { "[ ]\n", "conf.ini:1: a section without a name: \"[]\"\n" },
                { "[Service]\n", "conf.ini:1: the section [Service] needs a name: [Service NAME]\n" },
                { "[Gateway x]\n", "conf.ini:1: the section [Gateway] takes no name\n" },
                { "[Service a b]\n", "conf.ini:1: the name of the section [Service a b] is not valid: 1 to 40 letters "
                                     "of A-Z a-z 0-9 _ . -\n" },
                { "[Database]\nUrl=x\n", "conf.ini:1: the section [Database] is not in this version yet\n" },
                { "[Service web]\nReadinessProbe=x\n", "conf.ini:2: ReadinessProbe is not in this version yet\n" },
                { "[Service web]\nRestart=\x01\n", "conf.ini:2: a control character in the line\n" },
                { "[Service web]\nRestart=\x7F\n", "conf.ini:2: a control character in the line\n" },
                { "[Service web]\nRestart=\xFF\n", "conf.ini:2: invalid UTF-8 in the line\n" },
                { "# \xC3\n", "conf.ini:1: invalid UTF-8 in the line\n" },
                { "[Gateway]\rRestart=no\r", "conf.ini:1: a carriage return in the line (lines end in LF or CR LF)\n" },
                { "[Service web]\nRestart=$HOME\n", "conf.ini:2: Restart: a \"$\" stands alone: write \"$$\" for a "
                                                    "dollar, \"${NAME}\" for a variable\n" },
                { "[Service web]\nRestart=no\\",
                  "conf.ini:2: the line ends in a backslash, but no line follows that could continue it\n" },
                { "[Service web]\nExecStart=a \\\n# b\n", "conf.ini:3: \"#\" starts a line that continues the one "
                                                          "before; indent it if it belongs to the value\n" },
                { "[Service web]\nExecStart=a \\\n \x02\n", "conf.ini:3: a control character in the line\n" },
        };

        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                write_file("conf.ini", cases[i].text);
                cr_expect_str_eq(read_settings(), cases[i].expected);
                cr_expect_eq(bench.answer, 0);
                free(bench.printed);
                bench.settings = settings_free(bench.settings);
                bench.complaints = complaints_free(bench.complaints);
                cr_assert_eq(complaints_new(&bench.complaints), 0);
        }
        bench.printed = NULL;
}

Test(settings, a_nul_is_an_error_at_its_line) {
        static const char text[] = "[Service web]\nExecStart=/bin/true\n\0Restart=no\nRestart=no\n";
        write_bytes("conf.ini", text, sizeof text - 1);
        cr_assert_str_eq(read_settings(), "conf.ini:3: a NUL byte in the line\n");
        cr_assert_str_eq(value("Restart"), "no");
}

Test(settings, all_errors_are_found_in_one_run) {
        expect_complaints("X=1\n[Service]\nGoup=x\n[Service web\nY=2\n[Service web]\nRestart=${NOPE}\nRestart=no\nZ\n",
                          "conf.ini:1: the key X stands before any section\n"
                          "conf.ini:2: the section [Service] needs a name: [Service NAME]\n"
                          "conf.ini:3: unknown key Goup in a section [Service], did you mean Group?\n"
                          "conf.ini:4: the section is not closed by \"]\"\n"
                          "conf.ini:7: Restart: the variable NOPE is not set and has no default\n"
                          "conf.ini:8: duplicate key Restart, first in line 7\n"
                          "conf.ini:9: no \"=\" in the line: expected KEY=VALUE\n");
}

Test(settings, the_text_of_a_broken_line_is_never_printed) {
        expect_complaints("[Service web]\nEnvironment=PASSWORD=abc\ns3cret\n  s3cret\nRestart=${NOPE}s3cret\n",
                          "conf.ini:3: no \"=\" in the line: expected KEY=VALUE\n"
                          "conf.ini:4: the line is indented, but the one before does not end in a backslash\n"
                          "conf.ini:5: Restart: the variable NOPE is not set and has no default\n");
}

Test(settings, drop_ins_follow_in_byte_order_and_replace_or_add) {
        make_drop_in_directory();
        write_file("conf.ini", "[Service web]\nExecStart=main\nRestart=no\nEnvironment=A=1\n");
        write_file("conf.ini.d/b.ini", "[Service web]\nExecStart=b\nEnvironment=B=2\n[Gateway]\n");
        write_file("conf.ini.d/a.ini", "[Service web]\nExecStart=a\n");
        write_file("conf.ini.d/Z.ini", "[Service web]\nExecStart=Z\n[Service late]\n");
        write_file("conf.ini.d/ignored.txt", "nonsense\n");
        write_file("conf.ini.d/.hidden.ini", "nonsense\n");
        cr_assert_str_empty(read_settings());
        cr_assert_eq(bench.settings->n_files, 4);
        cr_assert_str_eq(value("ExecStart"), "b");
        cr_assert_str_eq(value("Restart"), "no");
        const SettingsSection *web = section("Service", "web");
        cr_assert_eq(web->n_items, 4);
        cr_assert_str_eq(settings_get(web, "ExecStart")->file, bench.settings->files[3]);
        cr_assert_eq(settings_get(web, "ExecStart")->line, 2);
        cr_assert_str_eq(web->file, bench.path);
        cr_assert_str_eq(section("Service", "late")->file, bench.settings->files[1]);
}

Test(settings, a_duplicate_is_one_only_within_a_file) {
        make_drop_in_directory();
        write_file("conf.ini", "[Service web]\nRestart=no\n");
        write_file("conf.ini.d/a.ini", "[Service web]\nRestart=always\nRestart=no\n[Service web]\n");
        cr_assert_str_eq(read_settings(), "conf.ini.d/a.ini:3: duplicate key Restart, first in line 2\n"
                                          "conf.ini.d/a.ini:4: duplicate section [Service web], first in line 1\n");
        cr_assert_str_eq(value("Restart"), "always");
}

Test(settings, a_section_does_not_reach_into_the_next_file) {
        make_drop_in_directory();
        write_file("conf.ini", "[Service web]\n");
        write_file("conf.ini.d/a.ini", "Restart=always\n");
        cr_assert_str_eq(read_settings(), "conf.ini.d/a.ini:1: the key Restart stands before any section\n");
}

Test(settings, a_drop_in_that_cannot_be_read_hides_no_other_error) {
        char path[256];
        make_drop_in_directory();
        write_file("conf.ini", "[Service web]\n");
        snprintf(path, sizeof path, "%s.d/a.ini", bench.path);
        cr_assert_eq(mkdir(path, 0700), 0);
        write_file("conf.ini.d/b.ini", "x\n");
        cr_assert_str_eq(read_settings(), "conf.ini.d/a.ini: cannot be read: Is a directory\n"
                                          "conf.ini.d/b.ini:1: no \"=\" in the line: expected KEY=VALUE\n");
        cr_assert_eq(bench.answer, -EISDIR);
        cr_assert_null(bench.settings);
}

Test(settings, a_file_in_place_of_the_drop_in_directory_is_said) {
        write_file("conf.ini", "[Gateway]\n");
        write_file("conf.ini.d", "");
        cr_assert_str_eq(read_settings(), "conf.ini.d: warning: is not a directory, so it has no drop-ins\n");
        cr_assert_eq(bench.answer, 0);
}

Test(settings, a_missing_file_is_an_error_with_its_name) {
        cr_assert_str_eq(read_settings(), "conf.ini: cannot be read: No such file or directory\n");
        cr_assert_eq(bench.answer, -ENOENT);
}

Test(settings, only_a_regular_file_is_read) {
        cr_assert_eq(mkfifo(bench.path, 0600), 0);
        cr_assert_str_eq(read_settings(), "conf.ini: cannot be read: it is not a regular file\n");
        cr_assert_eq(bench.answer, -EINVAL);
}

Test(settings, a_directory_is_no_file) {
        cr_assert_eq(mkdir(bench.path, 0700), 0);
        cr_assert_str_eq(read_settings(), "conf.ini: cannot be read: Is a directory\n");
        cr_assert_eq(bench.answer, -EISDIR);
}

Test(settings, a_file_over_16_mib_is_refused) {
        write_file("conf.ini", "");
        cr_assert_eq(truncate(bench.path, (16 << 20) + 1), 0);
        cr_assert_str_eq(read_settings(), "conf.ini: is larger than 16 MiB\n");
        cr_assert_eq(bench.answer, -EFBIG);
}

Test(settings, an_empty_file_has_no_sections) {
        expect_good("");
        cr_assert_eq(bench.settings->n_sections, 0);
}

Test(settings, the_last_line_needs_no_newline) {
        expect_good("[Service web]\nRestart=no");
        cr_assert_str_eq(value("Restart"), "no");
}
