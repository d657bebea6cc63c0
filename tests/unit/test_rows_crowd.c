/* 32 processes that append to one file of rows, while SIGKILLs end some of them at any moment: each
 * row whose append returned is there, and every row that is there is one that was written.
 *
 * KILN_CROWD_KILLS (60) is the number of kills; tests/portability/appends.sh sends 3000.
 */
#include "support/rows_box.h"
#include "support/suite.h"

#include <check.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CROWD = 32 };

/* What the processes share. */
typedef struct crowd {
    atomic_int appended[CROWD]; /* rows of each whose append returned */
    atomic_int failed;
    atomic_bool over;
} crowd;

/* The row says in each of its fields whose it is; it is long, so that many rows lie across pages.
 */
static kiln_row row_of(int who, int which)
{
    kiln_row row = rows_sample;
    snprintf(row.key, sizeof row.key, "%d-%d", who, which);
    snprintf(row.config, sizeof row.config, "%d-%d-%0150d", who, which, which);
    snprintf(row.driver, sizeof row.driver, "%0100d-%d-%d", which, who, which);
    return row;
}

static void pause_for(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

static void append_on(crowd *c, int who)
{
    while (!atomic_load(&c->over)) {
        const int which = atomic_load(&c->appended[who]);
        const kiln_row row = row_of(who, which);
        if (kiln_rows_append(rows_file, "d", &row))
            atomic_store(&c->failed, 1);
        else
            atomic_store(&c->appended[who], which + 1);
        pause_for(500);
    }
    _exit(0);
}

static pid_t start(crowd *c, int who)
{
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        append_on(c, who);
    return pid;
}

static void kill_some(crowd *c, pid_t *pid, int kills)
{
    uint32_t state = 1;
    for (int i = 0; i < kills; i++) {
        state = state * 1664525u + 1013904223u;
        const int who = (int)(state >> 16) % CROWD;
        pause_for((long)(state >> 8) % 2000);
        ck_assert_int_eq(kill(pid[who], SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid[who], NULL, 0), pid[who]);
        pid[who] = start(c, who);
    }
    atomic_store(&c->over, true);
    for (int i = 0; i < CROWD; i++)
        ck_assert_int_eq(waitpid(pid[i], NULL, 0), pid[i]);
}

typedef struct read_back {
    int rows, stumps, torn;
    char first_torn[512];
} read_back;

static void take(void *user, const kiln_rows_piece *p)
{
    read_back *r = user;
    int who, which;
    r->stumps += p->kind == KILN_ROWS_BAD;
    if (!p->row)
        return;
    r->rows++;
    kiln_row wanted = {0};
    if (sscanf(p->row->key, "%d-%d", &who, &which) == 2)
        wanted = row_of(who, which);
    if (strcmp(wanted.key, p->row->key) == 0 && strcmp(wanted.config, p->row->config) == 0 &&
        strcmp(wanted.driver, p->row->driver) == 0 && strcmp(wanted.core, p->row->core) == 0)
        return;
    r->torn++;
    snprintf(r->first_torn, sizeof r->first_torn, "%.*s", (int)p->length, p->text);
}

static int lost_rows(const crowd *c, char first[64])
{
    int lost = 0;
    kiln_rows *rows = kiln_rows_load(rows_file, "", &rows_logger);
    for (int who = 0; who < CROWD; who++)
        for (int which = 0; which < atomic_load(&c->appended[who]); which++) {
            const kiln_row row = row_of(who, which);
            if (kiln_rows_find(rows, row.key, NULL, 0))
                continue;
            lost++;
            snprintf(first, 64, "%d-%d", who, which);
        }
    kiln_rows_free(rows);
    return lost;
}

START_TEST(no_row_is_lost_or_torn)
{
    const char *often = getenv("KILN_CROWD_KILLS");
    const int kills = often ? atoi(often) : 60;
    crowd *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid[CROWD];
    read_back r = {0};
    char first[64] = "";
    ck_assert_ptr_ne(c, MAP_FAILED);
    for (int i = 0; i < CROWD; i++)
        pid[i] = start(c, i);
    kill_some(c, pid, kills);
    ck_assert_int_eq(kiln_rows_read(rows_file, take, &r), KILN_OK);
    const int lost = lost_rows(c, first);
    printf("%d processes, %d kills: %d rows, %d stumps, %d lost, %d torn\n", CROWD, kills, r.rows,
           r.stumps, lost, r.torn);
    ck_assert_msg(lost == 0, "%d rows are lost, %s among them", lost, first);
    ck_assert_msg(r.torn == 0, "%d rows are torn: %s", r.torn, r.first_torn);
    ck_assert_int_le(r.stumps, 2 * kills);
    ck_assert_int_eq(atomic_load(&c->failed), 0);
    ck_assert_int_gt(r.rows, kills);
    munmap(c, sizeof *c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows_crowd");
    TCase *tests = tcase_create("rows_crowd");
    tcase_add_checked_fixture(tests, rows_make_folder, rows_remove_folder);
    tcase_add_test(tests, no_row_is_lost_or_torn);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
