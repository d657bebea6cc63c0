/* A line of a file: name, links back to x, links back to the residual, problem. */
#include "chain_file.h"

#include "driver/reference/host.h"
#include "driver/reference/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_file(const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.txt", BENCH_NETWORKS, file);
    FILE *f = strchr(file, '/') ? NULL : fopen(path, "r");
    return f ? f : fopen(file, "r");
}

static bool read_line(chain_net *net, const char *text)
{
    kiln_link *l = &net->link[net->count];
    char problem[KILN_KEY_TEXT], why[KILN_ERROR_TEXT] = "it has other parts than four";
    *l = (kiln_link){.x_back = 0};
    if (net->count == CHAIN_LINKS ||
        sscanf(text, "%*s %d %d %639s", &l->x_back, &l->residual_back, problem) != 3 ||
        kiln_problem_parse(&l->problem, problem, why) != KILN_OK) {
        fprintf(stderr, "bench: line %d of %s: %s\n", net->count, net->name, why);
        return false;
    }
    net->count++;
    return true;
}

static float *make(int tensor, int link, int64_t count, double scale)
{
    float *data = malloc((size_t)count * sizeof *data);
    if (data)
        host_fill_tensor(HOST_FILL_UNIFORM, (uint64_t)link + 1, tensor, KILN_F32, 1, data, count);
    for (int64_t i = 0; data && i < count; i++)
        data[i] *= (float)scale;
    return data;
}

/* Uniform weights of this width keep the spread of results from link to link. */
static bool make_constants(chain_net *net)
{
    bool fine = true;
    int64_t outside = 1;
    for (int i = 0; i < net->count; i++) {
        const kiln_problem *p = &net->link[i].problem;
        const int64_t x = net->link[i].x_back ? 0 : kiln_problem_count(p, 'x');
        const double terms = (double)reference_terms(p);
        outside = x > outside ? x : outside;
        net->w[i] = make(HOST_W, i, kiln_problem_count(p, 'w'), sqrt(4.5 / terms));
        net->bias[i] = make(HOST_BIAS, i, p->out_channels, 0.1);
        fine = fine && net->w[i] && net->bias[i];
    }
    net->x = make(HOST_X, 0, outside, 1);
    return fine && net->x;
}

static void set_name(chain_net *net, const char *file)
{
    const char *slash = strrchr(file, '/');
    snprintf(net->name, sizeof net->name, "%s", slash ? slash + 1 : file);
    net->name[strcspn(net->name, ".")] = '\0';
}

bool chain_net_read(chain_net *net, const char *file)
{
    char line[1024];
    memset(net, 0, sizeof *net);
    set_name(net, file);
    FILE *f = open_file(file);
    if (!f) {
        fprintf(stderr, "bench: there is no network %s\n", file);
        return false;
    }
    bool fine = true;
    while (fine && fgets(line, sizeof line, f))
        fine = *line == '#' || *line == '\n' || read_line(net, line);
    fclose(f);
    if (fine && net->count > 0 && make_constants(net))
        return true;
    chain_net_free(net);
    return false;
}

void chain_net_free(chain_net *net)
{
    for (int i = 0; i < net->count; i++) {
        free(net->w[i]);
        free(net->bias[i]);
    }
    free(net->x);
    memset(net, 0, sizeof *net);
}
