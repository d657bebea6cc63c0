/* The table of operators, and what some of them do with single elements. */
#include "sizes.h"

#include <math.h>
#include <string.h>

static double itself(double a)
{
    return a;
}

static double negative(double a)
{
    return -a;
}

static double opposite(double a)
{
    return a == 0;
}

static double reciprocal(double a)
{
    return 1 / a;
}

static double not_negative(double a)
{
    return a < 0 ? 0 : a;
}

/* Halves go to the even number. */
static double nearest(double a)
{
    return nearbyint(a);
}

static double sum(double a, double b)
{
    return a + b;
}

static double difference(double a, double b)
{
    return a - b;
}

static double times(double a, double b)
{
    return a * b;
}

static double quotient(double a, double b)
{
    return a / b;
}

static double remains(double a, double b)
{
    return b == 0 ? NAN : a - floor(a / b) * b;
}

static double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
}

static double smaller(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
}

/* Comparisons with an element that is not known have a result that is not known. */
static double truth(double a, double b, bool is)
{
    return isnan(a) || isnan(b) ? NAN : is;
}

static double equal(double a, double b)
{
    return truth(a, b, a == b);
}

static double greater(double a, double b)
{
    return truth(a, b, a > b);
}

static double not_less(double a, double b)
{
    return truth(a, b, a >= b);
}

static double less(double a, double b)
{
    return truth(a, b, a < b);
}

static double not_greater(double a, double b)
{
    return truth(a, b, a <= b);
}

static double both(double a, double b)
{
    return truth(a, b, a != 0 && b != 0);
}

static double either(double a, double b)
{
    return truth(a, b, a != 0 || b != 0);
}

#define OPERATOR(op, rule, ...) {.name = op, .size = size_##rule, __VA_ARGS__},
static const operator_row table[] = {
#include "operators.def"
};
#undef OPERATOR

const operator_row *operator_of(const Onnx__NodeProto *node)
{
    const char *domain = text_of(node->domain);
    if (*domain && strcmp(domain, "ai.onnx") != 0 && strcmp(domain, "com.microsoft") != 0)
        return NULL;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, text_of(node->op_type)) == 0)
            return &table[i];
    return NULL;
}
