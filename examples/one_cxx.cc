// One convolution in C++17, through kiln.hpp: what goes wrong is an exception, and nothing of
// kiln's has to be released.
//
//     c++ -std=c++17 one_cxx.cc $(pkg-config --cflags --libs kiln) && ./a.out
#include <kiln.hpp>

#include <iostream>
#include <memory>
#include <type_traits>
#include <vector>

namespace
{

struct releaser {
    void operator()(cl_mem mem) const
    {
        clReleaseMemObject(mem);
    }
    void operator()(cl_command_queue queue) const
    {
        clReleaseCommandQueue(queue);
    }
    void operator()(cl_context context) const
    {
        clReleaseContext(context);
    }
};
template <typename T> using owned = std::unique_ptr<std::remove_pointer_t<T>, releaser>;

owned<cl_mem> make_buffer(cl_context context, std::int64_t bytes, float *data = nullptr)
{
    if (bytes == 0)
        return nullptr;
    return owned<cl_mem>(clCreateBuffer(context,
                                        CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0),
                                        static_cast<std::size_t>(bytes), data, nullptr));
}

int run()
{
    const cl_device_id device = libkiln::pick_device();
    owned<cl_context> context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr));
    owned<cl_command_queue> queue(clCreateCommandQueue(context.get(), device, 0, nullptr));

    const kiln_problem problem = libkiln::problem(1, 192, 64).input({28, 28}).filter({1, 1});
    libkiln::library k(context.get(), device);
    const libkiln::operation op = k.convolution(problem);
    const kiln_op_info info = op.info();

    std::vector<float> x(192 * 28 * 28, 1), w(64 * 192, 0.5f), y(64 * 28 * 28);
    auto x_mem = make_buffer(context.get(), info.x_size, x.data());
    auto w_mem = make_buffer(context.get(), info.w_size, w.data());
    auto y_mem = make_buffer(context.get(), info.y_size);
    auto workspace = make_buffer(context.get(), info.workspace_size);
    kiln_buffers b = {};
    b.x.mem = x_mem.get();
    b.w.mem = w_mem.get();
    b.y.mem = y_mem.get();
    b.workspace.mem = workspace.get();
    op.enqueue(queue.get(), b);
    k.finish(queue.get());
    clEnqueueReadBuffer(queue.get(), b.y.mem, CL_TRUE, 0, y.size() * sizeof y[0], y.data(), 0,
                        nullptr, nullptr);
    for (float v : y)
        if (v != 96)
            return 1;
    std::cout << libkiln::text(info.problem) << " by " << info.solver << ": right\n";

    // What cannot be is an exception with the sentence of kiln_last_error().
    kiln_problem wrong = problem;
    wrong.groups = 7;
    try {
        k.convolution(wrong);
        return 1;
    } catch (const libkiln::error &e) {
        std::cout << "refused: " << e.what() << "\n";
    }
    return 0;
}

} // namespace

int main()
{
    try {
        return run();
    } catch (const std::exception &e) {
        std::cerr << e.what() << "\n";
        return 1;
    }
}
