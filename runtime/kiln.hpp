// libkiln for C++17: handles that release themselves, errors as exceptions, views instead of a
// pointer and a count. Header only; everything else is kiln.h's, kiln_chain.h's and kiln_find.h's,
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
#include "kiln_find.h"

#include <cstddef>
#include <cstdint>
#include <memory>
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

  private:
    struct releaser {
        void operator()(kiln_op *op) const noexcept
        {
            kiln_op_release(op);
        }
    };
    std::unique_ptr<kiln_op, releaser> op_;
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
