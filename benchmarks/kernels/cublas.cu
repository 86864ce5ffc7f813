// Times of cuBLAS's matrix product in float32 without tensor cores, by the protocol of problems/lab/benchmark.mojo:
// before each repetition a buffer larger than any cache is overwritten, and a call is repeated until the standard
// error of its mean is below one percent. The matrices are those of register_tiles.mojo.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 benchmarks/kernels/cublas.cu -o cublas -lcublas

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <cublas_v2.h>

#define CHECK(call)                                                                  \
    do {                                                                             \
        int status = static_cast<int>(call);                                         \
        if (status != 0) {                                                           \
            std::fprintf(stderr, "%s:%d: status %d\n", __FILE__, __LINE__, status);  \
            std::exit(1);                                                            \
        }                                                                            \
    } while (0)

constexpr size_t FLUSH_BYTES = 512u << 20;

struct Timer {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    void *flush;

    Timer() {
        CHECK(cudaStreamCreate(&stream));
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
        CHECK(cudaMalloc(&flush, FLUSH_BYTES));
    }

    template <typename Call> void measure(const char *name, size_t elements, Call call) {
        for (int i = 0; i < 3; ++i) call();
        double mean = 0, squares = 0, error = 1;
        int count = 0;
        while (count < 2000) {
            CHECK(cudaMemsetAsync(flush, count % 251, FLUSH_BYTES, stream));
            CHECK(cudaEventRecord(begin, stream));
            call();
            CHECK(cudaEventRecord(end, stream));
            CHECK(cudaEventSynchronize(end));
            float ms = 0;
            CHECK(cudaEventElapsedTime(&ms, begin, end));
            double distance = ms * 1000 - mean;
            mean += distance / ++count;
            squares += distance * (ms * 1000 - mean);
            if (count >= 10) {
                error = std::sqrt(squares / (count - 1) / count) / mean;
                if (error < 0.01) break;
            }
        }
        std::printf("%-28s%12zu%6d%13.2f%7.2f\n", name, elements, count, mean, error * 100);
        std::fflush(stdout);
    }
};

template <typename T> T *filled(size_t count, int (*value)(size_t)) {
    std::vector<T> host(count);
    for (size_t i = 0; i < count; ++i) host[i] = static_cast<T>(value(i));
    T *device = nullptr;
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

void product(Timer &timer, cublasHandle_t handle, const char *name, cublasMath_t mode, int n) {
    CHECK(cublasSetMathMode(handle, mode));
    size_t count = static_cast<size_t>(n) * n;
    float *a = filled<float>(count, [](size_t i) { return static_cast<int>(i % 13); });
    float *b = filled<float>(count, [](size_t i) { return static_cast<int>(i % 31); });
    float *out = filled<float>(count, [](size_t) { return -1; });
    float one = 1, zero = 0;
    // Matrices are stored by columns there: b * a is the product of the matrices by rows.
    timer.measure(name, n, [&] {
        CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b, n, a, n, &zero, out, n));
    });
    cudaFree(a), cudaFree(b), cudaFree(out);
}

int main() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    std::printf("device: %s\n", device.name);
    Timer timer;
    cublasHandle_t handle;
    CHECK(cublasCreate(&handle));
    CHECK(cublasSetStream(handle, timer.stream));
    int version = 0;
    CHECK(cublasGetVersion(handle, &version));
    std::printf("cuBLAS %d\n", version);
    for (int n : {1024, 2048, 4096}) {
        product(timer, handle, "cuBLAS: default", CUBLAS_DEFAULT_MATH, n);
        product(timer, handle, "cuBLAS: pedantic", CUBLAS_PEDANTIC_MATH, n);
    }
}
