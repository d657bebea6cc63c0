// libkiln for C++17: handles that release themselves, errors as exceptions, views instead of a
// pointer and a count. Header only; everything else is kiln.h's, kiln_chain.h's, kiln_find.h's and kiln_net.h's,
// which say what each thing means, and when it may be used by several threads.
//
//     libkiln::library k(context, device);
//     libkiln::operation op = k.convolution(problem);
//     op.enqueue(queue, buffers);
//
// The namespace is libkiln, because `kiln` is a type of kiln.h. An object that was moved from may
// be assigned to or destroyed only.
#ifndef KILN_HPP
#define KILN_HPP

#include "kiln.h"
#include "kiln_chain.h"
#include "kiln_device.h"
#include "kiln_find.h"
#include "kiln_net.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace libkiln
{

// A failed call: what() is kiln_last_error()'s sentence.
class error : public std::runtime_error
{
  public:
    error(kiln_status status, const char *sentence) : std::runtime_error(sentence), status_(status)
    {
    }
    kiln_status status() const noexcept
    {
        return status_;
    }

  private:
    kiln_status status_;
};

// Throws where a call failed.
inline void check(kiln_status status)
{
    if (status != KILN_OK)
        throw error(status, kiln_last_error());
}

// A view of `size` neighbouring objects, which it does not own: of an array, a std::vector, a
// std::array, or anything else with data() and size().
template <typename T> class view
{
  public:
    constexpr view() noexcept = default;
    constexpr view(T *data, std::size_t size) noexcept : data_(data), size_(size)
    {
    }
    template <std::size_t N> constexpr view(T (&array)[N]) noexcept : data_(array), size_(N)
    {
    }
    template <typename C, typename = std::enable_if_t<std::is_convertible<
                              decltype(std::declval<C &>().data()), T *>::value>>
    constexpr view(C &&container) noexcept : data_(container.data()), size_(container.size())
    {
    }
    constexpr T *data() const noexcept
    {
        return data_;
    }
    constexpr std::size_t size() const noexcept
    {
        return size_;
    }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

// ---- problems ----

// Returns the problem checked and completed.
inline kiln_problem checked(kiln_problem problem)
{
    char why[KILN_ERROR_TEXT];
    if (kiln_problem_check(&problem, why) != KILN_OK)
        throw error(KILN_INVALID, why);
    return problem;
}

// Builds a problem, field by field: convertible to kiln_problem, which is checked then.
//
//     problem(1, 64, 128).input({56, 56}).filter({3, 3}).stride({2, 2}).pad({1, 1}).bias()
class problem
{
  public:
    problem(std::int64_t batch, std::int64_t in_channels, std::int64_t out_channels) noexcept
    {
        p_.batch = batch;
        p_.in_channels = in_channels;
        p_.out_channels = out_channels;
    }
    // For a node of a graph, which takes batch and channels from what it reads.
    explicit problem(std::int64_t out_channels) noexcept : problem(0, 0, out_channels)
    {
    }
    using sizes = std::initializer_list<std::int64_t>;
    problem &input(sizes s)
    {
        p_.spatial_rank = static_cast<int>(s.size());
        return set(p_.input, s);
    }
    problem &filter(sizes s)
    {
        return set(p_.filter, s);
    }
    problem &stride(sizes s)
    {
        return set(p_.stride, s);
    }
    // Before and behind alike.
    problem &pad(sizes s)
    {
        set(p_.pad_begin, s);
        return set(p_.pad_end, s);
    }
    problem &dilation(sizes s)
    {
        return set(p_.dilation, s);
    }
    problem &groups(std::int64_t n) noexcept
    {
        p_.groups = n;
        return *this;
    }
    problem &transposed() noexcept
    {
        p_.transposed = 1;
        return *this;
    }
    problem &type(kiln_type x, kiln_type y = KILN_TYPE_DEFAULT) noexcept
    {
        p_.x_type = p_.w_type = x;
        p_.y_type = y;
        return *this;
    }
    problem &layouts(const std::string &x, const std::string &w, const std::string &y)
    {
        copy(p_.x_layout, x);
        copy(p_.w_layout, w);
        return copy(p_.y_layout, y);
    }
    problem &bias() noexcept
    {
        p_.epilogue.bias = 1;
        return *this;
    }
    problem &residual(float beta = 1) noexcept
    {
        p_.epilogue.beta = beta;
        return *this;
    }
    problem &activation(kiln_activation a, float first = 0, float second = 0) noexcept
    {
        p_.epilogue.activation = a;
        p_.epilogue.param[0] = first;
        p_.epilogue.param[1] = second;
        return *this;
    }
    problem &math(kiln_math m) noexcept
    {
        p_.math = m;
        return *this;
    }
    operator kiln_problem() const
    {
        return checked(p_);
    }
    // As it is, for a node of a graph.
    const kiln_problem &unchecked() const noexcept
    {
        return p_;
    }

  private:
    problem &set(std::int64_t *to, sizes s)
    {
        if (s.size() > KILN_MAX_RANK)
            throw error(KILN_INVALID, "a problem has at most three spatial axes");
        std::int64_t *at = to;
        for (std::int64_t size : s)
            *at++ = size;
        return *this;
    }
    problem &copy(char *to, const std::string &layout)
    {
        if (layout.size() >= KILN_LAYOUT_TEXT)
            throw error(KILN_INVALID, "a layout has at most 31 letters");
        layout.copy(to, KILN_LAYOUT_TEXT - 1);
        to[layout.size()] = 0;
        return *this;
    }
    kiln_problem p_ = {};
};

// Reads the text form of a problem, or MIOpen's database key.
inline kiln_problem parse(const std::string &text)
{
    kiln_problem problem;
    char why[KILN_ERROR_TEXT];
    if (kiln_problem_parse(&problem, text.c_str(), why) != KILN_OK)
        throw error(KILN_INVALID, why);
    return problem;
}

// Returns the text form of a checked problem.
inline std::string text(const kiln_problem &problem)
{
    char buffer[KILN_KEY_TEXT];
    kiln_problem_text(&problem, buffer, sizeof buffer);
    return buffer;
}

// Returns the bytes of tensor 'x', 'w', 'y' or 'b' of a checked problem.
inline std::int64_t bytes(const kiln_problem &problem, char tensor)
{
    char why[KILN_ERROR_TEXT];
    const std::int64_t n = kiln_problem_bytes(&problem, tensor, why);
    if (n == 0)
        throw error(KILN_INVALID, why);
    return n;
}

// Returns the device that `wanted` or, if that is empty, KILN_DEVICE names.
inline cl_device_id pick_device(const std::string &wanted = {})
{
    cl_device_id device = nullptr;
    check(kiln_device_pick(wanted.c_str(), &device));
    return device;
}

// ---- processes that compile ----

struct helpers_ender {
    void operator()(kiln_helpers *h) const noexcept
    {
        kiln_prepare_end(h);
    }
};
using helpers = std::unique_ptr<kiln_helpers, helpers_ender>;

// ---- operations ----

// Owns a kiln_op. It may outlive its library.
class operation
{
  public:
    explicit operation(kiln_op *op) noexcept : op_(op)
    {
    }
    kiln_op *get() const noexcept
    {
        return op_.get();
    }

    kiln_op_info info() const
    {
        kiln_op_info i;
        kiln_op_describe(op_.get(), &i);
        return i;
    }
    // `done`, if not null, receives an event that the caller releases.
    void enqueue(cl_command_queue queue, const kiln_buffers &buffers,
                 view<const cl_event> wait = {}, cl_event *done = nullptr) const
    {
        check(kiln_op_enqueue(op_.get(), queue, &buffers, static_cast<cl_uint>(wait.size()),
                              wait.data(), done));
    }
    void pack(cl_command_queue queue, const kiln_buffers &buffers, view<const cl_event> wait = {},
              cl_event *done = nullptr) const
    {
        check(kiln_op_pack(op_.get(), queue, &buffers, static_cast<cl_uint>(wait.size()),
                           wait.data(), done));
    }
    // Runs it and returns the time in ms; the queue needs CL_QUEUE_PROFILING_ENABLE.
    double time(cl_command_queue queue, const kiln_buffers &buffers,
                double *pack_ms = nullptr) const
    {
        double ms = 0;
        check(kiln_op_time(op_.get(), queue, &buffers, &ms, pack_ms));
        return ms;
    }

    // Has a driver compile now what it leaves to the first launch.
    void warm() const
    {
        check(kiln_op_warm(op_.get()));
    }

  private:
    struct releaser {
        void operator()(kiln_op *op) const noexcept
        {
            kiln_op_release(op);
        }
    };
    std::unique_ptr<kiln_op, releaser> op_;
};

// ---- networks ----

// Owns a kiln_graph. Memory of weights is the caller's.
class graph
{
  public:
    graph() : graph_(kiln_graph_new())
    {
        if (!graph_)
            throw std::bad_alloc();
    }
    kiln_graph *get() const noexcept
    {
        return graph_.get();
    }
    // Adds a node and returns its number.
    int add(const kiln_node &node)
    {
        const int number = kiln_graph_add(graph_.get(), &node);
        if (number == 0)
            throw error(KILN_INVALID, kiln_last_error());
        return number;
    }
    kiln_form form(int node) const
    {
        kiln_form f;
        check(kiln_graph_form(graph_.get(), node, &f));
        return f;
    }

  private:
    struct releaser {
        void operator()(kiln_graph *g) const noexcept
        {
            kiln_graph_release(g);
        }
    };
    std::unique_ptr<kiln_graph, releaser> graph_;
};

// Owns a kiln_net. It may outlive its library and its graph.
class network
{
  public:
    explicit network(kiln_net *net) noexcept : net_(net)
    {
    }
    kiln_net *get() const noexcept
    {
        return net_.get();
    }
    kiln_net_info info() const
    {
        kiln_net_info i;
        check(kiln_net_describe(net_.get(), &i));
        return i;
    }
    kiln_form form(int node) const
    {
        kiln_form f;
        check(kiln_net_tensor(net_.get(), node, &f, nullptr));
        return f;
    }
    void pack(cl_command_queue queue) const
    {
        check(kiln_net_pack(net_.get(), queue));
    }
    void enqueue(cl_command_queue queue, view<const kiln_buffer> inputs,
                 view<const kiln_buffer> outputs, view<const cl_event> wait = {},
                 cl_event *done = nullptr) const
    {
        check(kiln_net_enqueue(net_.get(), queue, inputs.data(), outputs.data(),
                               static_cast<cl_uint>(wait.size()), wait.data(), done));
    }
    // Whether no operation runs a stand-in any more.
    bool ready() const
    {
        int is = 0;
        check(kiln_net_ready(net_.get(), &is));
        return is != 0;
    }
    void warm() const
    {
        check(kiln_net_warm(net_.get()));
    }
    void bundle(const std::string &dir) const
    {
        check(kiln_net_bundle(net_.get(), dir.c_str()));
    }
    void resize(cl_command_queue queue, std::int64_t batch,
                const std::int64_t (*sizes)[KILN_MAX_RANK] = nullptr) const
    {
        check(kiln_net_resize(net_.get(), queue, batch, sizes));
    }

  private:
    struct releaser {
        void operator()(kiln_net *net) const noexcept
        {
            kiln_net_release(net);
        }
    };
    std::unique_ptr<kiln_net, releaser> net_;
};

// ---- the library ----

// Owns a kiln.
class library
{
  public:
    // Opens kiln on a device of a context.
    library(cl_context context, cl_device_id device, const kiln_settings &settings = {})
        : library(&settings, context, device)
    {
    }
    // Opens kiln without a device, to plan.
    library() : library(nullptr, nullptr, nullptr)
    {
    }
    kiln *get() const noexcept
    {
        return kiln_.get();
    }

    operation convolution(const kiln_problem &problem, const kiln_choice &choice = {}) const
    {
        kiln_op *op = nullptr;
        check(kiln_conv_create(kiln_.get(), &problem, &choice, &op));
        return operation(op);
    }
    operation reformat(const kiln_reformat &reformat) const
    {
        kiln_op *op = nullptr;
        check(kiln_reformat_create(kiln_.get(), &reformat, &op));
        return operation(op);
    }
    // Chooses and describes, without compiling.
    kiln_op_info plan(const kiln_problem &problem, const kiln_choice &choice = {}) const
    {
        kiln_op_info info;
        check(kiln_conv_plan(kiln_.get(), &problem, &choice, &info));
        return info;
    }
    // Lists what can run the problem, the library's choice first.
    std::vector<kiln_solution> solutions(const kiln_problem &problem) const
    {
        std::vector<kiln_solution> list;
        std::size_t count = 0;
        check(kiln_solutions(kiln_.get(), &problem, nullptr, 0, &count));
        list.resize(count);
        check(kiln_solutions(kiln_.get(), &problem, list.data(), list.size(), &count));
        list.resize(count < list.size() ? count : list.size());
        return list;
    }
    // Measures the solutions and lists the ones that ran, the fastest first.
    std::vector<kiln_solution> find(const kiln_problem &problem, cl_command_queue queue,
                                    const kiln_buffers &buffers,
                                    const kiln_find_options &options = {}) const
    {
        std::vector<kiln_solution> list = solutions(problem);
        std::size_t count = 0;
        check(kiln_find(kiln_.get(), &problem, queue, &buffers, &options, list.data(), list.size(),
                        &count));
        list.resize(count < list.size() ? count : list.size());
        return list;
    }
    operation convolution(const kiln_solution &solution) const
    {
        kiln_op *op = nullptr;
        check(kiln_solution_create(kiln_.get(), &solution, &op));
        return operation(op);
    }
    network net(const graph &g, const kiln_net_options &options = {}) const
    {
        kiln_net *n = nullptr;
        check(kiln_net_create(kiln_.get(), g.get(), &options, &n));
        return network(n);
    }
    // What each solver says of a problem.
    std::vector<kiln_verdict> explain(const kiln_problem &given) const
    {
        const kiln_problem p = checked(given);
        std::vector<kiln_verdict> list;
        kiln_verdict v;
        while (kiln_explain(kiln_.get(), &p, static_cast<int>(list.size()), &v) == KILN_OK)
            list.push_back(v);
        return list;
    }
    // Compiles the problems and writes a bundle of their programs and rows.
    void bundle(view<const kiln_problem> problems, const std::string &dir, int threads = 0) const
    {
        check(kiln_bundle(kiln_.get(), problems.data(), problems.size(), threads, dir.c_str()));
    }
    // Decides the layouts of links that read each other's results.
    kiln_chain_info chain(view<kiln_link> links) const
    {
        kiln_chain_info info;
        check(kiln_chain(kiln_.get(), links.data(), links.size(), &info));
        return info;
    }
    void prepare(view<const kiln_problem> problems, int threads = 0) const
    {
        check(kiln_prepare(kiln_.get(), problems.data(), problems.size(), threads));
    }
    // Processes that compile the problems from the last one on while the caller begins with the
    // first; the object's end waits for what they are at, and is best after the first run.
    [[nodiscard]] helpers prepare_begin(view<const kiln_problem> problems, int processes = 0) const
    {
        kiln_helpers *h = nullptr;
        check(kiln_prepare_begin(kiln_.get(), problems.data(), problems.size(), processes, &h));
        return helpers(h);
    }
    void finish(cl_command_queue queue) const
    {
        check(kiln_finish(kiln_.get(), queue));
    }
    void flush(cl_command_queue queue) const
    {
        check(kiln_flush(kiln_.get(), queue));
    }

  private:
    struct closer {
        void operator()(kiln *k) const noexcept
        {
            kiln_close(k);
        }
    };
    library(const kiln_settings *settings, cl_context context, cl_device_id device)
    {
        kiln *k = nullptr;
        check(kiln_open(&k, context, device, settings));
        kiln_.reset(k);
    }
    std::unique_ptr<kiln, closer> kiln_;
};

} // namespace libkiln

#endif
