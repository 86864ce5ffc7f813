// Times of a library's calls by the protocol of problems/lab/benchmark.mojo: a buffer larger than the caches is
// overwritten before each repetition, until the standard error of the mean is below one percent.

#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call)                                                                       \
    do {                                                                                  \
        int status = static_cast<int>(call);                                              \
        if (status != 0) {                                                                \
            std::fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, status);        \
            std::exit(1);                                                                 \
        }                                                                                 \
    } while (0)

constexpr size_t FLUSH_BYTES = 512u << 20;

// The mean in microseconds, and its standard error relative to it.
struct Sample {
    double mean, error;
    int repetitions;

    const char *note() const { return error >= 0.01 ? "  (not settled)" : ""; }
};

class Timer {
  public:
    const cudaStream_t stream; // of the calls

    explicit Timer(cudaStream_t stream) : stream(stream) {
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
        CHECK(cudaMalloc(&flush, FLUSH_BYTES));
    }

    template <typename Call> Sample repeat(const Call &call) const {
        for (int i = 0; i < 3; ++i) call();
        double mean = 0, squares = 0, error = 1;
        int count = 0;
        while (count < 2000) {
            CHECK(cudaMemsetAsync(flush, count % 251, FLUSH_BYTES, stream));
            CHECK(cudaEventRecord(begin, stream));
            call();
            CHECK(cudaEventRecord(end, stream));
            CHECK(cudaEventSynchronize(end));
            float milliseconds = 0;
            CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
            double time = milliseconds * 1e3;
            double distance = time - mean;
            mean += distance / ++count;
            squares += distance * (time - mean);
            if (count >= 10) {
                error = std::sqrt(squares / (count - 1) / count) / mean;
                if (error < 0.01) break;
            }
        }
        CHECK(cudaGetLastError());
        return {mean, error, count};
    }

  private:
    cudaEvent_t begin, end;
    void *flush;
};

inline cudaStream_t new_stream() {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    return stream;
}
