// Times of cuBLAS's matrix product in float32 without tensor cores, by the protocol of repeated_calls.cuh, and in
// bfloat16. The matrices are those of register_tiles.mojo and of pipelines.mojo.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 benchmarks/kernels/cublas.cu -o cublas -lcublas

#include <cstdio>
#include <vector>

#include <cublas_v2.h>
#include <cuda_bf16.h>

#include "repeated_calls.cuh"

template <typename T> T *filled(size_t count, int (*value)(size_t)) {
    std::vector<T> host(count);
    for (size_t i = 0; i < count; ++i) host[i] = static_cast<T>(value(i));
    T *device = nullptr;
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

void product(const Timer &timer, cublasHandle_t handle, const char *name, cublasMath_t mode, int n) {
    CHECK(cublasSetMathMode(handle, mode));
    size_t count = static_cast<size_t>(n) * n;
    float *a = filled<float>(count, [](size_t i) { return static_cast<int>(i % 13); });
    float *b = filled<float>(count, [](size_t i) { return static_cast<int>(i % 31); });
    float *out = filled<float>(count, [](size_t) { return -1; });
    float one = 1, zero = 0;
    // Matrices are stored by columns there: b * a is the product of the matrices by rows.
    Sample own = timer.repeat([&] {
        CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b, n, a, n, &zero, out, n));
    });
    std::printf("%-28s%12zu%6d%13.2f%7.2f\n", name, static_cast<size_t>(n), own.repetitions, own.mean, own.error * 100);
    std::fflush(stdout);
    cudaFree(a), cudaFree(b), cudaFree(out);
}

// The rows of x with those of the weights, both by rows in memory.
void bfloat16_product(const Timer &timer, cublasHandle_t handle, int n) {
    size_t count = static_cast<size_t>(n) * n;
    auto *x = filled<__nv_bfloat16>(count, [](size_t i) { return static_cast<int>(i % 7) - 3; });
    auto *weights = filled<__nv_bfloat16>(count, [](size_t i) { return static_cast<int>(i % 5) - 2; });
    auto *out = filled<__nv_bfloat16>(count, [](size_t) { return -1; });
    float one = 1, zero = 0;
    Sample own = timer.repeat([&] {
        CHECK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one, weights, CUDA_R_16BF, n, x, CUDA_R_16BF, n,
                           &zero, out, CUDA_R_16BF, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    });
    std::printf("%-28s%12zu%6d%13.2f%7.2f\n", "cuBLAS bf16", static_cast<size_t>(n), own.repetitions, own.mean, own.error * 100);
    std::fflush(stdout);
    cudaFree(x), cudaFree(weights), cudaFree(out);
}

int main() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    std::printf("device: %s\n", device.name);
    Timer timer(new_stream());
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
    CHECK(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    constexpr size_t WORKSPACE_BYTES = 64u << 20;
    void *workspace = nullptr;
    CHECK(cudaMalloc(&workspace, WORKSPACE_BYTES));
    CHECK(cublasSetWorkspace(handle, workspace, WORKSPACE_BYTES));
    for (int n : {4096, 8192}) bfloat16_product(timer, handle, n);
}
