// kiln.hpp without a device: handles that move, exceptions with the sentence, views; and names of
// the C headers that C++ must be able to say.
#include <kiln.hpp>
#include <kiln_tune.h>

#include <array>
#include <cstring>
#include <iostream>
#include <utility>
#include <vector>

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::cerr << __LINE__ << ": " #condition "\n";                                         \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

template <typename Call> static bool throws(Call call, kiln_status status, const char *says)
{
    try {
        call();
    } catch (const libkiln::error &e) {
        return e.status() == status && std::strstr(e.what(), says);
    }
    return false;
}

static std::size_t size_of(libkiln::view<const int> v)
{
    return v.size();
}

int main()
{
    const std::vector<int> vector(3);
    std::array<int, 4> array = {};
    int plain[5] = {};
    REQUIRE(size_of(vector) == 3 && size_of(array) == 4 && size_of(plain) == 5 && size_of({}) == 0);

    const kiln_problem p = libkiln::parse("fwd-f32-n2-c16-k32-i9x7-f3x3-p1x1");
    REQUIRE(libkiln::text(p) == "fwd-f32-n2-c16-k32-i9x7-f3x3-p1x1");
    REQUIRE(libkiln::bytes(p, 'y') == 2 * 32 * 9 * 7 * 4);
    kiln_problem open = p;
    std::strcpy(open.y_layout, "any");
    REQUIRE(throws([&] { libkiln::bytes(open, 'y'); }, KILN_INVALID, "\"any\""));
    REQUIRE(throws([] { libkiln::parse("fwd-f31"); }, KILN_INVALID, "f31"));
    kiln_problem wrong = {};
    REQUIRE(throws([&] { libkiln::checked(wrong); }, KILN_INVALID, "must be at least 1"));

    libkiln::library k, other;
    REQUIRE(k.plan(open).y_size >= libkiln::bytes(p, 'y'));
    libkiln::operation op = k.convolution(p);
    other = std::move(k); // closes the handle that other had; op holds its own
    libkiln::operation moved = std::move(op);
    REQUIRE(throws([&] { libkiln::helpers none = other.prepare_begin({&p, 1}); }, KILN_INVALID, "can only plan"));
    REQUIRE(moved.info().w_size == 32 * 16 * 9 * 4);
    REQUIRE(!op.get() && !k.get());
    REQUIRE(throws([&] { moved.enqueue(nullptr, {}); }, KILN_INVALID, "queue"));
    REQUIRE(throws([&] { other.convolution(p, {"nobody"}); }, KILN_INVALID, "nobody"));

    const std::vector<kiln_solution> solutions = other.solutions(p);
    REQUIRE(solutions.size() > 1 && !std::strcmp(solutions[0].solver, other.plan(p).solver));
    REQUIRE(!std::strcmp(other.convolution(solutions[1]).info().solver, solutions[1].solver));
    REQUIRE(throws([&] { other.find(p, nullptr, {}); }, KILN_INVALID, "kiln_find"));

    std::vector<kiln_link> links(2);
    links[0].problem = open;
    links[1].problem = libkiln::parse("fwd-f32-n2-c32-k16-i9x7-f1x1");
    std::strcpy(links[1].problem.x_layout, "any");
    links[1].x_back = 1;
    REQUIRE(other.chain(links).arena_size > 0);
    links[1].x_back = 2;
    REQUIRE(throws([&] { other.chain(links); }, KILN_INVALID, "link 1"));

    const kiln_problem built = libkiln::problem(2, 16, 32).input({9, 7}).filter({3, 3}).pad({1, 1});
    REQUIRE(libkiln::text(built) == libkiln::text(p));
    REQUIRE(libkiln::text(libkiln::problem(1, 4, 8).input({9}).filter({3}).stride({2}).dilation({2}).groups(2)
                              .type(KILN_I8, KILN_F32).layouts("NWC", "", "NWC").bias().residual(0.5f)
                              .activation(KILN_CLIPPED_RELU, 6).math(KILN_MATH_EXACT)) ==
            "fwd-i8-n1-c4-k8-i9-f3-s2-d2-g2-t:i8.i8.f32-l:NWC.OIW.NWC-bias-r0.5-act:clipped_relu:6-exact");
    REQUIRE(throws([] { libkiln::problem(1, 1, 1).input({1, 1, 1, 1}); }, KILN_INVALID, "three"));
    const std::vector<kiln_verdict> verdicts = other.explain(p);
    REQUIRE(verdicts.size() > 10);
    REQUIRE(throws([&] { moved.warm(); }, KILN_INVALID, "without a device"));
    REQUIRE(throws([&] { other.bundle({&p, 1}, "none"); }, KILN_INVALID, "without a device"));

    libkiln::graph g;
    kiln_node image = {}, conv = {};
    image.kind = KILN_NODE_INPUT;
    image.form = {KILN_F32, 2, 1, 3, {8, 8}, ""};
    conv.from[0] = g.add(image);
    conv.problem = libkiln::problem(16).filter({3, 3}).unchecked();
    conv.kept = 1;
    const int last = g.add(conv);
    const libkiln::network net = other.net(g);
    REQUIRE(g.form(last).size[0] == 6 && net.form(last).channels == 16 && net.info().convolutions == 1);
    net.resize(nullptr, 5);
    REQUIRE(net.form(last).batch == 5 && net.ready());
    conv.from[0] = 7;
    REQUIRE(throws([&] { g.add(conv); }, KILN_INVALID, "reads node 7"));
    REQUIRE(throws([&] { net.pack(nullptr); }, KILN_INVALID, "NULL"));

    const kiln_trial_verdict verdict = KILN_TRIAL_OK;
    const kiln_rows_kind kind = KILN_ROWS_HEAD;
    const kiln_trial trial = {};
    REQUIRE(verdict == trial.verdict && kind == kiln_rows_kind(0));
    std::cout << "ok\n";
    return 0;
}
